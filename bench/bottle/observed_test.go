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

// observed is a configuration with all that a host lets its lobby be observed by, and unobserved one with as little as there can be.
func observed(cfg server.Config) server.Config {
	begin := time.Now()
	cfg.Clock, cfg.Enter = func() time.Duration { return time.Since(begin) }, server.Marks("0")
	return cfg
}

func unobserved(cfg server.Config) server.Config {
	cfg.SampleEvery = -1
	return cfg
}

// A tick that is observed in all ways, and of which every eighth datagram is accounted for, allocates nothing.
func TestObservedTickAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, cfg := range []server.Config{{}, {Kbps: 128}, inTown(t, server.Config{}), inTown(t, server.Config{Kbps: 128})} {
		cfg.SampleEvery = 8
		t.Run(fmt.Sprintf("%v/%d kbps", cfg.Relevance, cfg.Kbps), func(t *testing.T) { steadyTick(t, observed(cfg)) })
	}
}

// BenchmarkObserved is what metrics, ledger, labels and clocks cost a tick: two lobbies of the same seed play in turns, one observed and
// one not, and the median of the ratios of their CPU times over 30 ticks each is told.
func BenchmarkObserved(b *testing.B) {
	for _, c := range []struct {
		name    string
		players int
		cfg     server.Config
	}{{"players=10", 10, server.Config{}}, {"players=100", 100, server.Config{}}, {"players=500", 500, server.Config{}},
		{"players=500/town/kbps=128", 500, inTown(b, server.Config{Kbps: 128})}} {
		b.Run(c.name, func(b *testing.B) {
			var spent [2]time.Duration
			var lobbies [2]*Bottle
			for i, cfg := range []server.Config{unobserved(c.cfg), observed(c.cfg)} {
				lobbies[i] = crowdOf(b, c.players, cfg, func(tick func() error) error {
					from := pace.ThreadCPU()
					err := tick()
					spent[i] += pace.ThreadCPU() - from
					return err
				})
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var ratios []float64
			var all [2]time.Duration
			b.ResetTimer()
			for n := range b.N {
				for i := range lobbies {
					if err := lobbies[(n+i)&1].Step(); err != nil {
						b.Fatal(err)
					}
				}
				if n%30 == 29 || n == b.N-1 {
					ratios = append(ratios, float64(spent[1])/float64(spent[0]))
					all[0], all[1] = all[0]+spent[0], all[1]+spent[1]
					spent = [2]time.Duration{}
				}
			}
			slices.Sort(ratios)
			b.ReportMetric(float64(all[0])/float64(b.N), "unobserved-ns/tick")
			b.ReportMetric(float64(all[1])/float64(b.N), "observed-ns/tick")
			b.ReportMetric(100*(ratios[len(ratios)/2]-1), "%more")
			b.ReportMetric(0, "ns/op")
		})
	}
}
