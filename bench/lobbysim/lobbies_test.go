package lobbysim

import (
	"bytes"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/netio"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// recordedTick is a tick of a lobby: when it was, and the datagrams that had arrived.
type recordedTick struct {
	now       time.Duration
	unix      int64
	datagrams []netio.Datagram
}

// recordedLobby is a lobby, to be made again, and its ticks.
type recordedLobby struct {
	cfg   server.Config
	ticks []recordedTick
	hash  uint64 // of the match after the last tick
}

// recordLobby plays a lobby with its clients and keeps what it receives.
func recordLobby(tb testing.TB, cfg Config, ticks int) *recordedLobby {
	tb.Helper()
	r := &recordedLobby{}
	var tick recordedTick
	cfg.OnReceive = func(from netip.AddrPort, data []byte) {
		tick.datagrams = append(tick.datagrams, netio.Datagram{Addr: from, Data: bytes.Clone(data)})
	}
	b, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for len(r.ticks) < ticks {
		if err := b.Step(); err != nil {
			tb.Fatal(err)
		}
		tick.now, tick.unix = b.now, b.unix()
		r.ticks = append(r.ticks, tick)
		tick = recordedTick{}
	}
	if in := int(b.Lobby.Stats.Count[metrics.Joined].Load()); in != cfg.Clients {
		tb.Fatalf("%d of %d players are in", in, cfg.Clients)
	}
	r.cfg, r.hash = b.cfg.Lobby, b.Lobby.Match().Hash()
	return r
}

// replayedLobby is a lobby that receives what another received. It is its own connection, which
// drops what the lobby sends.
type replayedLobby struct {
	*server.Lobby
	tick *recordedTick
	next int
}

// replay makes the lobby anew.
func (r *recordedLobby) replay(tb testing.TB) *replayedLobby {
	tb.Helper()
	l, err := server.NewLobby(r.cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return &replayedLobby{Lobby: l}
}

// play plays a recorded tick.
func (l *replayedLobby) play(tb testing.TB, t *recordedTick) {
	l.tick, l.next = t, 0
	if err := l.Tick(t.now, t.unix, l); err != nil {
		tb.Fatal(err)
	}
}

func (l *replayedLobby) Receive(to *netio.Batch) (int, error) {
	to.Reset()
	for ; l.next < len(l.tick.datagrams) && !to.Full(); l.next++ {
		to.Add(l.tick.datagrams[l.next].Data, l.tick.datagrams[l.next].Addr)
	}
	return to.Len(), nil
}

func (l *replayedLobby) Send(*netio.Batch) error   { return nil }
func (l *replayedLobby) LocalAddr() netip.AddrPort { return serverAddr }
func (l *replayedLobby) Close() error              { return nil }
func (l *replayedLobby) Stats() netio.Stats        { return netio.Stats{} }

// duel is a lobby of ten players at 128 Hz, with 64 snapshots a second, timed as the lobbies of a host
// are.
func duel() Config {
	const players, seed = 10, 11
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	return Config{
		Clients: players, Seed: seed, Decode: client.DecodeOwn,
		Link: impair.Profile{Delay: 15 * time.Millisecond, Jitter: 5 * time.Millisecond},
		Lobby: server.Config{Arena: arena.Generate(players, seed), ArenaName: "test", Players: players,
			SendInterval: 2, CPU: clock, SparseTiming: true,
			Rules: sim.Rules{Seed: seed, Rate: 128}},
	}
}

// A lobby that receives what another received plays the same match.
func TestReplayedLobbyPlaysTheSame(t *testing.T) {
	r := recordLobby(t, duel(), 300)
	l := r.replay(t)
	for i := range r.ticks {
		l.play(t, &r.ticks[i])
	}
	if hash := l.Match().Hash(); hash != r.hash {
		t.Errorf("hash %016x, recorded with %016x", hash, r.hash)
	}
}

// still is a player that is connected and does nothing.
type still struct{}

func (still) Decide(*swarm.Observation) client.Intent { return client.Intent{} }

// BenchmarkLobbies is many lobbies of ten players at 128 Hz on one core, each a tick in turn,
// without clients and system calls: what a tick costs where every lobby finds the caches full of
// the others, beside one alone, and how many fit into a core. Idle players send commands and do
// nothing else; empty lobbies sleep. Bytes are of the heap.
func BenchmarkLobbies(b *testing.B) {
	busy := recordLobby(b, duel(), warmTicks+measuredTicks)
	cfg := duel()
	cfg.Brain = func(int) swarm.Brain { return still{} }
	idle := recordLobby(b, cfg, warmTicks+measuredTicks)
	empty := &recordedLobby{cfg: busy.cfg, ticks: slices.Clone(busy.ticks)}
	empty.cfg.SleepWhenEmpty = true
	for i := range empty.ticks {
		empty.ticks[i].datagrams = nil
	}
	for _, c := range []struct {
		name string
		of   *recordedLobby
		n    int
	}{{"alone", busy, 1}, {"32-together", busy, 32}, {"128-together", busy, 128},
		{"idle-32-together", idle, 32}, {"empty-128-together", empty, 128}} {
		b.Run("players=10/"+c.name, func(b *testing.B) { benchmarkLobbies(b, c.of, c.n) })
	}
}

// Ticks of BenchmarkLobbies: until all players are in and the first seconds are over, and measured.
const warmTicks, measuredTicks = 3 * 128, 128

func benchmarkLobbies(b *testing.B, r *recordedLobby, n int) {
	const rate = 128
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent, bytes := time.Duration(0), uint64(0)
	for range b.N {
		before := heapBytes()
		lobbies := make([]*replayedLobby, n)
		for i := range lobbies {
			lobbies[i] = r.replay(b)
			for k := range warmTicks {
				lobbies[i].play(b, &r.ticks[k])
			}
		}
		bytes = (heapBytes() - before) / uint64(n)
		hugepage.CollapseHeap(b.Context(), func() {}) // as serve does
		from := clock.ThreadCPU()
		for k := range measuredTicks {
			for _, l := range lobbies {
				l.play(b, &r.ticks[warmTicks+k])
			}
		}
		spent += clock.ThreadCPU() - from
		runtime.KeepAlive(lobbies)
	}
	perTick := float64(spent) / float64(b.N*n*measuredTicks)
	b.ReportMetric(perTick, "cpu-ns/tick")
	b.ReportMetric(1e9/rate/perTick, "lobbies/core")
	b.ReportMetric(float64(bytes), "B/lobby")
	b.ReportMetric(0, "ns/op")
}

func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
