package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/server/metrics"
)

// Reports of several lobbies add up to one, and what they are is told of each thereafter as before: shots are counted once.
func TestReportsOfLobbiesAreMerged(t *testing.T) {
	report := func(shots uint64, p99, mean float64) metrics.Report {
		s := metrics.Spread{P99: p99, Mean: mean}
		return metrics.Report{Seconds: 2, Rate: 50, HeapBytes: 100, CPUSeconds: 1, Counts: map[string]uint64{metrics.Shots.String(): shots},
			TickCPU: s, Stages: []metrics.StageCost{{Name: "move", Spread: s}}, Hiccup: new(s)}
	}
	make3 := func() []metrics.Report { return []metrics.Report{report(10, 5, 1), report(20, 9, 2), report(60, 7, 6)} }
	all := make3()
	m := merged(all)
	worst := metrics.Spread{P99: 9, Mean: 3}
	want := metrics.Report{Seconds: 2, Rate: 50, HeapBytes: 300, CPUSeconds: 3, Counts: map[string]uint64{metrics.Shots.String(): 90},
		TickCPU: worst, Stages: []metrics.StageCost{{Name: "move", Spread: worst}}, Hiccup: &worst}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(make3(), all); diff != "" {
		t.Error("the reports were changed:", diff)
	}
	f := factsOf(scenario.Default(), capacity.Step{}, all, &swarm.Figures{})
	if f.Shots != 0.3 || f.Memory != 100 { // 90 in 300 ticks
		t.Errorf("%g shots a tick, %g bytes", f.Shots, f.Memory)
	}
}
