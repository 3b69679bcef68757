package main

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
)

// Times are as if the lobby that is always the same had taken what it took first.
func TestPacer(t *testing.T) {
	p := pacer{plays: 1}
	measured := capacity.Step{TickCPUMillis: capacity.Quantiles{P50: 2, Mean: 3}, StageCPUMicros: []capacity.Stage{{Name: "move", Mean: 5, P99: 7}}}
	var before float64
	for i := range 2 {
		if i > 0 { // the machine is half as fast as it was when all began
			p.usual /= 2
			before = p.last
		}
		got, err := p.timed(t.Context(), func() (capacity.Step, error) {
			if before == 0 {
				before = p.last
			}
			return measured, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.last <= 0 || p.usual <= 0 || before == p.last {
			t.Fatalf("%d: beats of %g and %g", i, before, p.last)
		}
		times := 2 * p.usual / (before + p.last)
		for _, x := range [][2]float64{{got.TickCPUMillis.P50, 2}, {got.TickCPUMillis.Mean, 3}, {got.StageCPUMicros[0].Mean, 5}, {got.StageCPUMicros[0].P99, 7}} {
			if math.Abs(x[0]/x[1]-times) > 1e-9 {
				t.Errorf("%d: %g of %g, expected %g times as much", i, x[0], x[1], times)
			}
		}
	}
	p = pacer{plays: 1, usual: 1e-9} // as recorded: nothing is that fast
	step, pace, err := p.between(t.Context(), func() (capacity.Step, error) { before = p.last; return measured, nil })
	if err != nil || step.TickCPUMillis.Mean != 3 || p.usual != 1e-9 || math.Abs(pace/((before+p.last)/2e-9)-1) > 1e-9 {
		t.Errorf("%v: a step of %g, pace %g of beats of %g and %g", err, step.TickCPUMillis.Mean, pace, before, p.last)
	}
	if measured.StageCPUMicros[0].Mean != 5 {
		t.Error("what was measured has changed")
	}
}
