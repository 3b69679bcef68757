package lobbysim

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/replay"
)

// afterTick is a server.Config.Background as that of a host: what a tick adds runs behind it, on
// another goroutine or, for the same bits and times each run, on that of the lobby.
type afterTick struct {
	waiting []func()
	queue   chan func() // nil: on the goroutine of the lobby
	done    chan struct{}
}

// newAfterTick runs what is added on the goroutine of the lobby.
func newAfterTick() *afterTick {
	return &afterTick{waiting: make([]func(), 0, 2*(replay.RawChunks+1))}
}

// newGoroutineAfterTick runs what is added on a goroutine of its own.
func newGoroutineAfterTick() *afterTick {
	a := newAfterTick()
	a.queue, a.done = make(chan func(), cap(a.waiting)), make(chan struct{})
	go func() {
		defer close(a.done)
		for run := range a.queue {
			run()
		}
	}()
	return a
}

func (a *afterTick) add(run func()) { a.waiting = append(a.waiting, run) }

// flush runs or begins what was added.
func (a *afterTick) flush() {
	for _, run := range a.waiting {
		if a.queue == nil {
			run()
		} else {
			a.queue <- run
		}
	}
	a.waiting = a.waiting[:0]
}

// close waits until everything has run.
func (a *afterTick) close() {
	if a.flush(); a.queue != nil {
		close(a.queue)
		<-a.done
	}
}

// nowhere is a file that takes everything.
type nowhere struct{}

func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (nowhere) Truncate(int64) error                   { return nil }
func (nowhere) Close() error                           { return nil }

// recordedFight is a fight of 64 at 128 Hz in which all clients want killcams, and which is
// recorded as serve --record does it, both by background; nil: neither. wrap is called with each
// tick.
func recordedFight(t testing.TB, background *afterTick, wrap func(func() error) error) *Sim {
	t.Helper()
	const players = 64
	a, err := arena.Open("arena-64")
	if err != nil {
		t.Fatal(err)
	}
	game := sim.DefaultGame()
	game.Mode.PrematchMillis = 1000
	lobby := server.Config{Arena: a, ArenaName: "arena-64", Players: players, Killcam: server.KillcamOff,
		Rules: sim.Rules{Rate: 128, Seed: 3, Mix: true, RespawnMillis: 2000, Game: game}}
	around := wrap
	if background != nil {
		file := &replay.FileWriter{Pack: replay.NewPacker(),
			Create: func(tick.Tick) (replay.File, string, error) { return nowhere{}, "nowhere", nil }}
		lobby.Killcam, lobby.Background = server.KillcamOn, background.add
		lobby.Record = func(c server.RecordingChunk) {
			if c.First {
				file.WriteFirst(c.Head, c.Chunk)
			} else {
				file.Write(c.Head, c.Chunk)
			}
		}
		around = func(tick func() error) error {
			err := wrap(tick)
			background.flush()
			return err
		}
	}
	b, err := New(Config{Clients: players, Seed: 3, Decode: client.DecodeOwn, Lobby: lobby, WrapTick: around,
		Link:         impair.Profile{Delay: 20 * time.Millisecond},
		ChangeClient: func(_ int, cfg *client.Config) { cfg.Killcam = background != nil }})
	if err != nil {
		t.Fatal(err)
	}
	b.Lobby.Reserve()
	return b
}

// leastTimes plays a fight several times and returns the least CPU time of each tick after the
// first seconds. make makes the background of a play.
func leastTimes(t testing.TB, make func() *afterTick, plays, ticks int) (least []time.Duration) {
	const warmup = 5 * 128
	for range plays {
		var times []time.Duration
		background := make()
		b := recordedFight(t, background, func(tick func() error) error {
			from := clock.ThreadCPU()
			err := tick()
			times = append(times, clock.ThreadCPU()-from)
			return err
		})
		for range warmup + ticks {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
		}
		b.Lobby.FinishRecording()
		if background != nil {
			background.close()
		}
		times = times[warmup:]
		if least == nil {
			least = times
		}
		for i := range least {
			least[i] = min(least[i], times[i])
		}
		runtime.GC()
	}
	return least
}

// nanos is the q-quantile of times.
func nanos(times []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)])
}

// BenchmarkRecording measures the CPU time of ticks of 64 players at 128 Hz, recorded and with
// killcams, and of the same match without, once whatever b.N is. A tick's time is the least of several
// plays. added is the median of what a tick takes more than the same unrecorded, of those that copy
// nothing, columns for checksums, or a state. What is encoded runs behind the tick.
func BenchmarkRecording(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const plays, ticks = 2, 4 * 128
	plain := leastTimes(b, func() *afterTick { return nil }, plays, ticks)
	reportRecording(b, plain, leastTimes(b, newAfterTick, plays, ticks))
}

func reportRecording(b *testing.B, plain, recorded []time.Duration) {
	var added, times [3][]time.Duration // by kind: nothing is copied, checksums, state
	for i := range recorded {
		kind, at := 0, (i+1)%(replay.KeyEvery*128) // the warm-up is a whole number of chunks
		switch {
		case at == 384: // the first state is that of tick 0, and five chunks are warm-up
			kind = 2
		case at%128 == 0 || at%128%replay.ChecksumEvery == 0:
			kind = 1
		}
		added[kind] = append(added[kind], recorded[i]-plain[i])
		times[kind] = append(times[kind], recorded[i])
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50-ns/tick", 0.5}, {"p99-ns/tick", 0.99}, {"max-ns/tick", 1}} {
		b.ReportMetric(nanos(plain, q.q), "plain-"+q.name)
		b.ReportMetric(nanos(recorded, q.q), "recorded-"+q.name)
	}
	for kind, name := range []string{"", "checksums-", "state-"} {
		b.ReportMetric(nanos(added[kind], 0.5), name+"added-ns/tick")
	}
	b.ReportMetric(nanos(times[2], 1), "state-max-ns/tick")
	b.ReportMetric(0, "ns/op")
}
