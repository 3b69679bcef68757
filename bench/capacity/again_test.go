package capacity

import (
	"math"
	"testing"
)

// A lobby that is timed twice has the mean of both, and the surer timing weighs more; what came of the play goes with the times.
func TestAgain(t *testing.T) {
	timing := func(us, unsure, shots float64, matches int) Step {
		return Step{TickCPUMillis: Quantiles{P50: us / 1000, Mean: us / 1000, Max: us / 100}, StageCPUMicros: []Stage{{Name: "move", Mean: us / 2}, {Name: "send", Mean: us / 2}},
			Facts: &Facts{Shots: shots, Matches: matches, TimeUnsure: unsure}}
	}
	first := Measurement{Step: timing(100, 0.02, 3, 7)}
	first.Timed = first.Facts
	for i, c := range []struct{ unsure, weight float64 }{{0.02, 0.5}, {0, (sq(againUnsure) + sq(0.02)) / (2*sq(againUnsure) + sq(0.02))}, {1e6, 0}} {
		got := first.Again(timing(110, c.unsure, 5, 4))
		us := 100 + 10*c.weight
		if !near(got.stages(), us, 1e-6) || !near(1000*got.TickCPUMillis.Mean, us, 1e-6) || !near(got.Timed.Shots, 3+2*c.weight, 1e-6) || got.Timed.Matches != 11 {
			t.Errorf("%d: %g µs, %+v, expected %g", i, got.stages(), *got.Timed, us)
		}
		if want := math.Hypot((1-c.weight)*0.02, c.weight*c.unsure); c.unsure < 1 && !near(got.Timed.TimeUnsure, want, 1e-9) {
			t.Errorf("%d: sure to %g, expected %g", i, got.Timed.TimeUnsure, want)
		}
	}
	// A third one weighs a third where all are as sure, and a fourth a quarter.
	for i, last := 2, first.Again(timing(100, 0, 3, 4)); i < 5; i++ {
		last.Timed.TimeUnsure = 0
		if last.Times != i {
			t.Errorf("%d timings, expected %d", last.Times, i)
		}
		before := last.stages()
		if last = last.Again(timing(before+float64(10*(i+1)), 0, 3, 4)); !near(last.stages(), before+10, 1e-6) {
			t.Errorf("timing %d: %g µs, expected %g", i+1, last.stages(), before+10)
		}
	}
	if first.stages() != 100 || first.Timed.Shots != 3 || first.Timed.Matches != 7 {
		t.Error("what was there has changed")
	}
}

// Times at another pace are all scaled, and what was measured stays.
func TestPaced(t *testing.T) {
	s := Step{TickCPUMillis: Quantiles{P50: 1, P99: 2, P999: 3, Max: 4, Mean: 5}, StageCPUMicros: []Stage{{Name: "move", Mean: 6, P99: 7}}}
	got := s.Paced(0.5)
	if want := (Quantiles{P50: 0.5, P99: 1, P999: 1.5, Max: 2, Mean: 2.5}); got.TickCPUMillis != want || got.StageCPUMicros[0] != (Stage{Name: "move", Mean: 3, P99: 3.5}) {
		t.Errorf("%+v", got)
	}
	if s.StageCPUMicros[0].Mean != 6 || s.TickCPUMillis.Mean != 5 {
		t.Error("what was measured has changed")
	}
}

// Glances of equal parts weigh by how many snapshots they are of.
func TestGlancesOf(t *testing.T) {
	part := func(snapshots, appear, flights float64) Facts {
		return Facts{Played: Played{Glances: Glances{Snapshots: snapshots, Appear: appear, Flights: flights}}}
	}
	got := glancesOf([]Facts{part(10, 1, 0.5), part(0, 0, 0), part(30, 5, 0.9)})
	if got.Snapshots != 40 || !near(got.Appear, 4, 1e-12) || !near(got.Flights, 0.8, 1e-12) || glancesOf(nil) != (Glances{}) {
		t.Errorf("%+v", got)
	}
}
