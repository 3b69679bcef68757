package lobbysim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// newFullLobby returns a lobby of n joined players that all see each other, after two seconds of
// warm-up.
func newFullLobby(t testing.TB, n int, around func(func() error) error) *Sim {
	t.Helper()
	return newFullLobbyWith(t, n, server.Config{}, around)
}

// newFullLobbyWith is newFullLobby with another configuration.
func newFullLobbyWith(t testing.TB, n int, cfg server.Config, around func(func() error) error) *Sim {
	t.Helper()
	if _, bench := t.(*testing.B); bench && kept.name == t.Name() {
		*kept.around = around
		return kept.Sim
	}
	measuring := false
	if cfg.Arena == nil {
		cfg.Arena = arena.Generate(n, 11)
		if cfg.Relevance == server.RelevanceGrid {
			cfg.CellVisible = maze(cfg.Arena, 0)
		}
	}
	cfg.ArenaName, cfg.Players, cfg.Rules, cfg.CPU = "test", n, sim.Rules{Seed: 11}, clock.ThreadCPU
	b, err := New(Config{
		Clients: n, Seed: 11, Decode: client.DecodeOwn, Link: impair.Profile{Delay: 15 * time.Millisecond,
			Jitter: 5 * time.Millisecond},
		Lobby: cfg,
		WrapTick: func(tick func() error) error {
			if measuring {
				return around(tick)
			}
			return tick()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Lobby.Reserve() // as serve does
	for range 150 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if in := int(b.Lobby.Stats.Count[metrics.Joined].Load()); in != n {
		t.Fatalf("%d of %d players are in", in, n)
	}
	measuring = true
	if _, bench := t.(*testing.B); bench {
		hugepage.CollapseHeap(context.Background(), func() {}) // as serve does
		kept.name, kept.Sim, kept.around = t.Name(), b, &around
	}
	return b
}

// kept is the crowd of the benchmark that runs: with more iterations, and once more for -count, it
// goes on with the same: to make one takes longer than all that is measured.
var kept struct {
	*Sim
	name   string
	around *func(func() error) error
}

// A steady tick of 500 players, from datagrams in to datagrams out, allocates nothing.
func TestSteadyTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	all := append(relevances[:len(relevances):len(relevances)], inTown(t, server.Config{}),
		server.Config{Relevance: server.RelevanceAll, NearestPlayers: 40}) // far players take turns
	if testing.Short() {
		all = []server.Config{{Relevance: server.RelevanceGrid, Kbps: 128}}
	}
	for _, cfg := range all {
		t.Run(fmt.Sprintf("%v/%d kbps", cfg.Relevance, cfg.Kbps), func(t *testing.T) { steadyTick(t, cfg) })
	}
}

// relevances are the configurations of relevance that benchmarks compare.
var relevances = []server.Config{
	{Relevance: server.RelevanceOff},
	{Relevance: server.RelevanceAll, ChecksumEvery: -1},
	{Relevance: server.RelevanceAll},
	{Relevance: server.RelevanceAll, Kbps: 128},
	{Relevance: server.RelevanceGrid},
	{Relevance: server.RelevanceGrid, Kbps: 128},
	{Relevance: server.RelevanceGrid, ViewDistance: 24},
}

var town500 = sync.OnceValue(func() *arena.Arena { return arena.Town(500, 11) })
var walls500 = sync.OnceValues(func() (*pvs.Table, error) {
	return pvs.Build(town500(), pvs.Fit(town500(), pvs.CellFor(town500())))
})

// inTown is the configuration of a lobby in a town for 500 players, by default with a grid and the
// town's visibility table.
func inTown(t testing.TB, cfg server.Config) server.Config {
	t.Helper()
	cfg.Arena = town500()
	if cfg.Relevance == server.RelevanceAuto {
		table, err := walls500()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Relevance, cfg.PVS = server.RelevanceGrid, table
	}
	return cfg
}

// inSight is the mean number of visible rows in the newest frame, by the oracle's rule.
func inSight(b *Sim) float64 {
	cfg := b.cfg.Lobby
	f := b.Lobby.Frame(b.Lobby.Match().Tick())
	all, viewers, far := 0, 0, 1<<12
	if cfg.PVS != nil {
		highest := levels(cfg.PVS, f)
		cfg.CellSize = cfg.PVS.Config().Cell
		cfg.CellVisible = func(from, to int) bool {
			return cfg.PVS.VisibleAt(from, highest[from], to,
				highest[to])
		}
	}
	if cfg.CellVisible == nil || cfg.Relevance != server.RelevanceGrid {
		cfg.CellVisible = func(from, to int) bool { return true }
	}
	if cfg.ViewDistance != 0 {
		far = int(cfg.ViewDistance/server.GridConfig(cfg.Arena, cfg.CellSize).Cell) + 1
	}
	for slot := range f.Slots() {
		if id := f.ID(slot); id != 0 {
			o := oracle{cfg: cfg, id: id, far: far, left: map[netid.ID]int{}}
			all += len(o.visibleTo(f))
			viewers++
		}
	}
	return float64(all) / float64(max(1, viewers))
}

func steadyTick(t *testing.T, cfg server.Config) {
	var before, after runtime.MemStats
	ticks, allocs := 0, uint64(0)
	b := newFullLobbyWith(t, 500, cfg, func(tick func() error) error {
		runtime.ReadMemStats(&before)
		err := tick()
		runtime.ReadMemStats(&after)
		allocs += after.Mallocs - before.Mallocs
		ticks++
		return err
	})
	for range 60 {
		if err := b.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if s := &b.Lobby.Stats; s.Count[metrics.Shots].Load() == 0 || s.Count[metrics.InputsUsed].Load() == 0 {
		t.Fatal("no client played")
	}
	if allocs != 0 {
		t.Errorf("%d ticks made %d allocations", ticks, allocs)
	}
}

// BenchmarkTick measures a whole tick of a lobby in which all players see each other: CPU time from
// datagrams in to datagrams out, without the system calls, beside the tick's period as its limit.
// The cost of receiving, opening and sealing one datagram is beside it: all but the handshakes' part
// of the stages of these names.
func BenchmarkTick(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("players=%d", n), func(b *testing.B) {
			var spent time.Duration
			c := newFullLobby(b, n, func(tick func() error) error {
				from := clock.ThreadCPU()
				err := tick()
				spent += clock.ThreadCPU() - from
				return err
			})
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s := &c.Lobby.Stats
			for _, stage := range []metrics.Stage{
				metrics.StageReceive, metrics.StageOpen, metrics.StageSeal, metrics.StageSnapshot,
			} {
				s.Stage[stage].Reset()
			}
			bytes, snapshots := s.Count[metrics.BytesOut].Load(), s.Count[metrics.Snapshots].Load()
			opened, sealed := s.Count[metrics.Received].Load(), s.Count[metrics.Sent].Load()
			b.ResetTimer()
			for range b.N {
				if err := c.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			perTick := float64(spent) / float64(b.N)
			b.ReportMetric(perTick, "cpu-ns/tick")
			b.ReportMetric(perTick/float64(n), "cpu-ns/player")
			b.ReportMetric(perTick*60/1e9, "cores@60Hz")
			each := func(stage metrics.Stage, datagrams uint64) float64 {
				return s.Stage[stage].Mean() * float64(b.N) / float64(max(1, datagrams))
			}
			b.ReportMetric(each(metrics.StageReceive, s.Count[metrics.Received].Load()-opened), "receive-ns/datagram")
			b.ReportMetric(each(metrics.StageOpen, s.Count[metrics.Received].Load()-opened), "open-ns/datagram")
			b.ReportMetric(each(metrics.StageSeal, s.Count[metrics.Sent].Load()-sealed), "seal-ns/datagram")
			b.ReportMetric(each(metrics.StageSnapshot, (s.Count[metrics.Snapshots].Load()-snapshots)*uint64(n)),
				"snapshot-ns/pair")
			b.ReportMetric(float64(s.Count[metrics.BytesOut].Load()-bytes)*60/float64(b.N*n), "B/client/s")
			b.ReportMetric(0, "ns/op") // of all clients together with the server
		})
	}
}

// BenchmarkRelevance measures a whole tick of some players by what decides which rows a client
// gets: all rows, in blocks that clients share; rows that a grid and the walls of a town leave
// visible; those under a byte limit.
func BenchmarkRelevance(b *testing.B) {
	open := func(c server.Config) func(testing.TB) server.Config {
		return func(testing.TB) server.Config { return c }
	}
	town := func(c server.Config) func(testing.TB) server.Config {
		return func(t testing.TB) server.Config { return inTown(t, c) }
	}
	for _, way := range []struct {
		name    string
		players int
		cfg     func(testing.TB) server.Config
	}{
		{"open/grid", 500, open(server.Config{Relevance: server.RelevanceGrid})},
		{"town/grid", 500, town(server.Config{})},
		{"town/grid/kbps=128", 500, town(server.Config{Kbps: 128})},
	} {
		b.Run(way.name, func(b *testing.B) {
			var spent time.Duration
			var cfg server.Config
			if kept.name != b.Name() { // else the lobby is there
				cfg = way.cfg(b)
			}
			c := newFullLobbyWith(b, way.players, cfg, func(tick func() error) error {
				from := clock.ThreadCPU()
				err := tick()
				spent += clock.ThreadCPU() - from
				return err
			})
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s := &c.Lobby.Stats
			s.Stage[metrics.StageSnapshot].Reset()
			bytes, snapshots := s.Count[metrics.BytesOut].Load(), s.Count[metrics.Snapshots].Load()
			b.ResetTimer()
			for range b.N {
				if err := c.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			sent := float64(max(1, s.Count[metrics.Snapshots].Load()-snapshots))
			rows, each := inSight(c), s.Stage[metrics.StageSnapshot].Mean()*float64(b.N)/sent
			b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/tick")
			b.ReportMetric(float64(spent)/float64(b.N)*60/1e9, "cores@60Hz")
			b.ReportMetric(each, "ns/snapshot")
			b.ReportMetric(each/rows, "ns/visible-pair")
			b.ReportMetric(float64(s.Count[metrics.BytesOut].Load()-bytes)/sent, "B/snapshot")
			b.ReportMetric(rows, "rows/client")
			b.ReportMetric(0, "ns/op")
		})
	}
}
