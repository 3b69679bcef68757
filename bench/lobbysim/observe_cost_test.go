package lobbysim

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/server/httpapi"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// observed is a configuration with everything by which a host observes its lobby, and with profiler
// labels at all times, as during a profile.
func observed(cfg server.Config) server.Config {
	begin := time.Now()
	cfg.Clock = func() time.Duration { return time.Since(begin) }
	labels := httpapi.NewStageLabels("0")
	labels.Always()
	cfg.EnterStage = labels.Enter
	return cfg
}

// A tick with all observers, and with every eighth datagram sampled, allocates nothing.
func TestObservedTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, cfg := range []server.Config{{}, {Kbps: 128}, {Relevance: server.RelevanceGrid, Kbps: 128},
		inTown(t, server.Config{})} {
		cfg.SampleEvery = 8
		t.Run(fmt.Sprintf("%v/%d kbps", cfg.Relevance, cfg.Kbps),
			func(t *testing.T) { steadyTick(t, observed(cfg)) })
	}
}

// Observation changes no byte of what a lobby sends, and a lobby that is observed again accounts
// for everything again.
func TestObservingChangesNothing(t *testing.T) {
	play := func(switching bool) (uint64, *Sim) {
		b, sum := open(t, 12, 9, impair.Profile{Delay: 20 * time.Millisecond, Loss: 0.02}), fnv.New64a()
		b.wire.onSend = func(_ netip.AddrPort, data []byte) { sum.Write(data) }
		for n := range 600 {
			if switching {
				b.Lobby.Observe(n/7%2 == 0)
			}
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
		b.Lobby.Observe(true)
		for range 60 {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
		return sum.Sum64(), b
	}
	always, a := play(false)
	sometimes, b := play(true)
	if always == 0 || always != sometimes {
		t.Errorf("what is sent is %x if observed and %x if now and then", always, sometimes)
	}
	for _, c := range []metrics.Count{metrics.Received, metrics.Accepted, metrics.BytesIn, metrics.Sent,
		metrics.BytesOut, metrics.Snapshots, metrics.InputsUsed, metrics.InputsMissing,
		metrics.InputsDuplicate} {
		if x, y := a.Lobby.Stats.Count[c].Load(), b.Lobby.Stats.Count[c].Load(); x != y || x == 0 {
			t.Errorf("%v: %d and %d", c, x, y)
		}
	}
	if n := b.Lobby.Stats.Count[metrics.UnbalancedTicks].Load(); n != 0 {
		t.Errorf("%d ticks are unbalanced", n)
	}
	x, y := a.Lobby.Summary().Bandwidth, b.Lobby.Summary().Bandwidth
	if x.Bytes != a.Lobby.Stats.Count[metrics.BytesOut].Load() || y.Bytes == 0 || y.Bytes > x.Bytes*6/10 ||
		a.Lobby.Stats.Tick.Count() <= b.Lobby.Stats.Tick.Count() {
		t.Errorf("%d bytes accounted for of one, and of the other %d; %d and %d ticks timed",
			x.Bytes, y.Bytes, a.Lobby.Stats.Tick.Count(), b.Lobby.Stats.Tick.Count())
	}
}

// observeCost holds the CPU time per tick in ns of blocks of ticks, with and without something. Two
// blocks of one index ran one after the other.
type observeCost struct{ off, on []float64 }

// report reports the cost without, and that with as a multiple, with the ends of its 95 % interval.
func (t *observeCost) report(b *testing.B) {
	r := pairedRatio(t.off, t.on)
	b.ReportMetric(slices.Sorted(slices.Values(t.off))[len(t.off)/2], "without-ns/tick")
	b.ReportMetric(r.Value, "cost-ratio")
	b.ReportMetric(r.Low, "low-ratio")
	b.ReportMetric(r.High, "high-ratio")
	b.ReportMetric(0, "ns/op")
}

// leastPairs are the pairs of blocks of a benchmark of few iterations; a useful -benchtime is 14400x.
const leastPairs = 2 * trimmed

// uncounted are the first ticks of a block, in which what was just switched on fills its memory. With 12
// ticks they make blocks whose length has no rhythm in common with what a lobby does once a second.
const uncounted = 1

// compareBlocks plays pairs of blocks of ticks, one of them with what set switches on; which comes
// first alternates. The CPU time of the calling thread is compared; only the server's tick counts.
func compareBlocks(b *Sim, pairs, ticks int, set func(on bool)) (t observeCost, err error) {
	cpu := clock.ThreadCPU
	around, spent := b.cfg.WrapTick, time.Duration(0)
	b.cfg.WrapTick = func(tick func() error) error {
		from := cpu()
		err := around(tick)
		spent += cpu() - from
		return err
	}
	defer func() {
		b.cfg.WrapTick = around
		set(true)
	}()
	turn := func(on bool) (float64, error) {
		set(on)
		for i := range uncounted + ticks {
			if i == uncounted {
				spent = 0
			}
			if err := b.Step(); err != nil {
				return 0, err
			}
		}
		return float64(spent) / float64(ticks), nil
	}
	for pair := range pairs {
		var cost [2]float64
		for second := range 2 {
			on := (pair + second) % 2
			if cost[on], err = turn(on == 1); err != nil {
				return t, err
			}
		}
		t.off, t.on = append(t.off, cost[0]), append(t.on, cost[1])
	}
	return t, nil
}

// BenchmarkObserved measures what metrics, byte accounts, labels and clocks cost a tick. Blocks of
// 12 ticks, four snapshots to each client, run with and without observation in turn, and their CPU
// times are compared pair by pair.
func BenchmarkObserved(b *testing.B) {
	const players = 500
	b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
		cfg := observed(server.Config{})
		cfg.EnterStage = nil // as a host while no profile is taken
		l := newFullLobbyWith(b, players, cfg, func(tick func() error) error { return tick() })
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		b.ResetTimer()
		turns, err := compareBlocks(l, max(leastPairs, b.N/24), 12, l.Lobby.Observe)
		if err != nil {
			b.Fatal(err)
		}
		turns.report(b)
	})
}
