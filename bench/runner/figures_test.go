package runner

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/server/metrics"
)

// Reports of several lobbies add up to one and stay as they are.
func TestReportsOfLobbiesAreMerged(t *testing.T) {
	report := func(shots uint64, p99, mean float64) metrics.Report {
		s := metrics.Spread{P99: p99, Mean: mean}
		return metrics.Report{Seconds: 2, Rate: 50, HeapBytes: 100, CPUSeconds: 1,
			Counts:  map[string]uint64{metrics.Shots.String(): shots},
			TickCPU: s, Stages: []metrics.StageCost{{Name: "move", Spread: s}}, Hiccup: new(s)}
	}
	make3 := func() []metrics.Report {
		return []metrics.Report{report(10, 5, 1), report(20, 9, 2),
			report(60, 7, 6)}
	}
	all := make3()
	m := merge(all)
	worst := metrics.Spread{P99: 9, Mean: 3}
	want := metrics.Report{Seconds: 2, Rate: 50, HeapBytes: 300, CPUSeconds: 3,
		Counts:  map[string]uint64{metrics.Shots.String(): 90},
		TickCPU: worst, Stages: []metrics.StageCost{{Name: "move", Spread: worst}}, Hiccup: &worst}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(make3(), all); diff != "" {
		t.Error("the reports were changed:", diff)
	}
	step := newStep(30, 30, []metrics.Report{report(10, 5, 1), report(20, 9, 2)}, newFigures())
	if step.Lobbies != 2 || math.Abs(step.TickCPUMillis.P99-0.009) > 1e-9 || step.ServerCores != 1 {
		t.Errorf("%+v", step)
	}
}

// newFigures are those of a swarm that measured nothing.
func newFigures() *swarm.Figures {
	h := func() *meter.Histogram { return meter.NewHistogram(0, meter.Fine) }
	return &swarm.Figures{Elapsed: time.Second, Late: h(), Played: h(), StealCorrected: h(), Age: h(),
		RTT: h(), Meter: client.NewMeter()}
}
