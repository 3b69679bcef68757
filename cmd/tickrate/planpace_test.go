package main

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
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

// Rounds play the same matches again: of each tick the least time is kept, and what came of them is told once.
func TestRounds(t *testing.T) {
	s := lesson{players: 3, hz: 60, every: 3}.scenario(0.5)
	r := newRehearsal(s, 2, 2, slowdown{})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var first []time.Duration
	for round := range 2 {
		if err := r.round(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(r.ticks) != 2*30 || r.s.Play.Seed != s.Play.Seed {
			t.Fatalf("round %d: %d ticks of two matches of 30, seed %d, expected %d", round, len(r.ticks), r.s.Play.Seed, s.Play.Seed)
		}
		for i, spent := range r.ticks {
			all := time.Duration(0)
			for _, d := range spent {
				all += d
			}
			if round == 0 {
				first = append(first, all)
			} else if all > first[i] || all <= 0 {
				t.Errorf("tick %d takes %v, and took %v in the first round", i, all, first[i])
			}
		}
	}
	if step := r.step(); step.Facts.Matches != 2 || step.Facts.Plays != 2 {
		t.Errorf("%+v", step.Facts)
	}
}

// A lesson is timed again until it has as many timings as it is to have.
func TestTimings(t *testing.T) {
	timed := &capacity.Facts{Matches: 3}
	for i, c := range []struct {
		times int
		one   capacity.Measurement
		again bool
	}{
		{1, capacity.Measurement{}, false},
		{3, capacity.Measurement{}, false}, // it has none yet, which is not again
		{1, capacity.Measurement{Timed: timed}, false},
		{2, capacity.Measurement{Timed: timed}, true},
		{2, capacity.Measurement{Timed: timed, Times: 1}, true},
		{2, capacity.Measurement{Timed: timed, Times: 2}, false},
		{3, capacity.Measurement{Timed: timed, Times: 2}, true},
	} {
		if f := (calibration{times: c.times}); f.again(&c.one) != c.again {
			t.Errorf("%d: again %v", i, !c.again)
		}
	}
	for _, times := range []int{0, 1, 10, 11} {
		f := calibration{plays: 5, seconds: 4, matches: 40, sure: 0.8, times: times}
		if err := f.check(); (err == nil) != (times >= 1 && times <= 10) {
			t.Errorf("--times %d: %v", times, err)
		}
	}
}
