package bottle

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/pace"
	"github.com/tickrate/tickrate/server"
)

// watcher lets a lobby be observed as a host does, or as little as can be.
type watcher struct {
	on    bool
	begin time.Time
	mark  func(server.Stage) // nil: as a host does while no profile is taken
}

// observed is a configuration with all that a host lets its lobby be observed by, while the watcher is on.
func (w *watcher) observed(cfg server.Config) server.Config {
	w.on, w.begin = true, time.Now()
	cfg.Clock = func() time.Duration {
		if !w.on {
			return 0
		}
		return time.Since(w.begin)
	}
	cfg.Enter = func(s server.Stage) {
		if w.on && w.mark != nil {
			w.mark(s)
		}
	}
	return cfg
}

// A tick that is observed in all ways, and of which every eighth datagram is accounted for, allocates nothing.
func TestObservedTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, cfg := range []server.Config{{}, {Kbps: 128}, {Relevance: server.RelevanceGrid, Kbps: 128}, inTown(t, server.Config{})} {
		cfg.SampleEvery = 8
		t.Run(fmt.Sprintf("%v/%d kbps", cfg.Relevance, cfg.Kbps), func(t *testing.T) { steadyTick(t, (&watcher{mark: server.Marks("0")}).observed(cfg)) })
	}
}

// BenchmarkObserved is what metrics, ledger, labels and clocks cost a tick: one lobby is observed for 12 ticks, and then for 12 it is not,
// in turns, and CPU times are compared. Twelve are four snapshots to everybody.
func BenchmarkObserved(b *testing.B) {
	for _, c := range []struct {
		name    string
		players int
		cfg     server.Config
		mark    func(server.Stage)
	}{{"players=10", 10, server.Config{}, nil}, {"players=10/profiled", 10, server.Config{}, server.Marks("0")}, {"players=100", 100, server.Config{}, nil}, {"players=500", 500, server.Config{}, nil},
		{"players=500/town/kbps=128", 500, inTown(b, server.Config{Kbps: 128}), nil}} {
		b.Run(c.name, func(b *testing.B) {
			const turn = 12
			w := watcher{mark: c.mark}
			var spent time.Duration
			l := crowdOf(b, c.players, w.observed(c.cfg), func(tick func() error) error {
				from := pace.ThreadCPU()
				err := tick()
				spent += pace.ThreadCPU() - from
				return err
			})
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var times [2][]float64 // of turns
			b.ResetTimer()
			for n := range (b.N + 2*turn - 1) / (2 * turn) * 2 {
				if w.on = n&1 == 1; w.on {
					l.Lobby.Sample(1024)
				} else {
					l.Lobby.Sample(-1)
				}
				spent = 0
				for range turn {
					if err := l.Step(); err != nil {
						b.Fatal(err)
					}
				}
				times[n&1] = append(times[n&1], float64(spent)/turn)
			}
			for i := range times {
				slices.Sort(times[i])
			}
			middle := func(s []float64) (sum float64) { // mean of the middle half
				s = s[len(s)/4 : len(s)-len(s)/4]
				for _, v := range s {
					sum += v
				}
				return sum / float64(len(s))
			}
			off, on := middle(times[0]), middle(times[1])
			b.ReportMetric(off, "unobserved-ns/tick")
			b.ReportMetric(on, "observed-ns/tick")
			b.ReportMetric(100*(on/off-1), "%more")
			b.ReportMetric(0, "ns/op")
		})
	}
}
