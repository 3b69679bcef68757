package main

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/scenario"
)

// What the lobby that is always the same takes first is the usual pace, unless one is known.
func TestPace(t *testing.T) {
	for i, c := range []struct {
		usual float64
		us    []float64
		paces []float64
	}{
		{0, []float64{100, 101, 50}, []float64{1, 1.01, 0.5}},
		{80, []float64{100, 80}, []float64{1.25, 1}},
	} {
		p := pacer{usual: c.usual}
		for k, us := range c.us {
			if got := p.of(us); math.Abs(got-c.paces[k]) > 1e-12 {
				t.Errorf("%d: %g at %g µs, expected %g", i, got, us, c.paces[k])
			}
		}
	}
}

// A step is measured at the machine's own pace beside the pace lobby, and brought to the usual one.
func TestBesideThePaceLobby(t *testing.T) {
	s := lesson{players: 4, hz: 60, every: 3}.scenario(0.5)
	p := pacer{plays: 1}
	step, pace, err := p.beside(t.Context(), s, 2)
	if err != nil || pace != 1 || p.usual <= 0 || step.Facts.Matches != 2 || step.Facts.PerLobby != 4 || step.TickCPUMillis.Mean <= 0 {
		t.Fatalf("%v: pace %g, usual %g, %+v", err, pace, p.usual, step.Facts)
	}
	p.usual /= 1e6 // so far from what any machine does that nothing that disturbs this one matters
	step, err = p.timed(t.Context(), s, 1)
	if err != nil || step.TickCPUMillis.Mean <= 0 || step.TickCPUMillis.Mean > 0.1e-3 {
		t.Errorf("%v: %g ms a tick a million times as fast", err, step.TickCPUMillis.Mean)
	}
	if _, _, err := p.beside(t.Context(), scenario.Scenario{}, 1); err == nil {
		t.Error("nothing was played, and that was no error")
	}
}
