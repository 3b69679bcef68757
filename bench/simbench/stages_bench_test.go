package simbench

import (
	"context"
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/hugepage"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// keptMatch is the match of the benchmark that runs. More iterations, and -count, go on with it:
// its warm-up takes longer than the measured ticks.
var keptMatch struct {
	*Match
	name string
}

// warmMatch is a match of a scenario with n players, after four seconds: the burst of joins is over.
func warmMatch(b *testing.B, s scenario.Scenario, n int) *Match {
	if keptMatch.name == b.Name() {
		return keptMatch.Match
	}
	s.Lobby.Players = n
	m, err := NewMatch(s, Options{Lobby: func(cfg *server.Config) { cfg.CPU = clock.ThreadCPU }})
	if err != nil {
		b.Fatal(err)
	}
	for range 240 {
		if err := m.Step(); err != nil {
			b.Fatal(err)
		}
	}
	hugepage.CollapseHeap(context.Background(), func() {}) // as serve does
	keptMatch.Match, keptMatch.name = m, b.Name()
	return m
}

// BenchmarkStages measures the mean CPU time of each stage of a scenario's tick. Stages are timed
// in one tick of 16: a useful -benchtime is 500x or more.
func BenchmarkStages(b *testing.B) {
	for _, c := range []struct {
		name, scenario string
		players        int
	}{
		{"one-lobby/players=500", "one-lobby", 500},
		{"wide/players=200", "wide", 200},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, ok := scenario.Named(c.scenario)
			if !ok {
				b.Fatalf("scenario %s is missing", c.scenario)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			m := warmMatch(b, s, c.players)
			stats := &m.Lobby.Stats
			for i := range stats.Stage {
				stats.Stage[i].Reset()
			}
			bytes := stats.Count[metrics.BytesOut].Load()
			shots, hits := stats.Count[metrics.Shots].Load(), stats.Count[metrics.Hits].Load()
			b.ResetTimer()
			for range b.N {
				if err := m.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			for i := range stats.Stage {
				if mean := stats.Stage[i].Mean(); mean > 0 {
					b.ReportMetric(mean, metrics.Stage(i).String()+"-ns/tick")
				}
			}
			sent := float64(stats.Count[metrics.BytesOut].Load() - bytes)
			seconds := float64(b.N) / float64(s.Rates.TickHz)
			b.ReportMetric(sent/seconds/float64(c.players), "B/client/s")
			b.ReportMetric(float64(stats.Count[metrics.Shots].Load()-shots)/float64(b.N), "shots/tick")
			b.ReportMetric(float64(stats.Count[metrics.Hits].Load()-hits)/float64(b.N), "hits/tick")
			b.ReportMetric(0, "ns/op")
		})
	}
}
