package lobbysim

import (
	"math"
	"runtime"
	"runtime/trace"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/traceregion"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/httpapi"
	"github.com/tickrate/tickrate/server/metrics"
)

// capturing is what a host adds to a lobby and its ticks for captures.
type capturing struct {
	label  func(metrics.Stage) // what it does without captures
	flight *trace.FlightRecorder
	thread *capture.Thread
	lobby  *capture.Lobby
}

// newCapturing makes all that serve --capture does. The flight recorder is the caller's to start.
func newCapturing(t testing.TB) *capturing {
	t.Helper()
	r, err := capture.New(capture.Config{Dir: t.TempDir(), Most: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clock.NewHiccup(nil, r.Hiccup).Stop)
	labels := httpapi.NewStageLabels("0")
	labels.CoarseRegions()
	c := &capturing{label: labels.Enter, flight: capture.NewFlightRecorder(),
		thread: r.NewThread()}
	t.Cleanup(c.flight.Stop)
	c.thread.Bind()
	t.Cleanup(c.thread.Close)
	c.lobby = c.thread.Lobby(0)
	return c
}

// on makes a lobby mark its stages and connections, or stops that. Call it between ticks.
func (c *capturing) on(l *server.Lobby, on bool) {
	if l.Timer().OnStage = c.label; on {
		l.Timer().OnStage = c.lobby.Beside(c.label)
	}
	if l.Config().EnterConn = nil; on {
		l.Config().EnterConn = c.lobby.Conn
	}
}

// tick plays a tick as a worker of a host does.
func (c *capturing) tick(l *server.Lobby, play func() error) error {
	c.thread.BeginRound(0)
	begun := time.Now()
	err := play()
	c.thread.EndRound()
	c.thread.Tick(&capture.Tick{Lobby: c.lobby, Last: l.Match().Tick(), Ticks: 1, Period: time.Second / 60,
		Interval: time.Second / 20, Elapsed: time.Since(begun), Over: -1, Players: l.Live()})
	return err
}

// A tick whose stages are marked, and are regions of the flight recorder, allocates nothing.
func TestCapturedTickAllocatesNothing(t *testing.T) {
	if raceEnabled || traceregion.Allocates {
		t.Skip("the race detector allocates, and so does a build with nounsafe")
	}
	c, allocs := newCapturing(t), -1.
	if err := c.flight.Start(); err != nil {
		t.Skip(err) // of the test itself
	}
	var b *Sim
	b = newFullLobbyWith(t, 32, observed(server.Config{}), func(tick func() error) (err error) {
		runs := 0
		allocs = testing.AllocsPerRun(1, func() { // it calls twice, and counts the second call
			if runs++; runs == 2 {
				err = c.tick(b.Lobby, tick)
			}
		})
		return err
	})
	c.on(b.Lobby, true)
	least := math.Inf(1)
	const ticks = 60 // a second of play
	for range 4 {    // goroutines of the runtime allocate now and then, but not in each round
		sum := 0.0
		for range ticks {
			if err := b.Step(); err != nil {
				t.Fatal(err)
			}
			sum += allocs
		}
		least = min(least, sum)
	}
	if least != 0 {
		t.Errorf("%d ticks make %v allocations", ticks, least)
	}
}

// BenchmarkCapture measures what serve --capture costs a tick while nothing is captured: regions of
// the flight recorder, marks, and clocks. Blocks of 12 ticks run with and without in turn, and the CPU
// times of the thread are compared pair by pair.
func BenchmarkCapture(b *testing.B) {
	for _, c := range []struct {
		name    string
		players int
	}{{"players=64", 64}, {"players=500", 500}} {
		b.Run(c.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			x := newCapturing(b)
			var l *Sim
			on := false
			cfg := observed(server.Config{})
			cfg.EnterStage = nil
			l = newFullLobbyWith(b, c.players, cfg, func(tick func() error) error {
				if on {
					return x.tick(l.Lobby, tick)
				}
				return tick()
			})
			b.ResetTimer()
			turns, err := compareBlocks(l, max(leastPairs, b.N/24), 12, func(with bool) {
				if on == with {
					return
				}
				on = with
				x.on(l.Lobby, with)
				if with {
					_ = x.flight.Start() // the only one
				} else {
					x.flight.Stop()
				}
			})
			if err != nil {
				b.Fatal(err)
			}
			turns.report(b)
		})
	}
}
