package main

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
)

// Times are as if the lobby that is always the same had taken what it took first, and are those of the steadiest try.
func TestPacer(t *testing.T) {
	for i, c := range []struct {
		usual float64
		beats []float64
		tries int
		pace  float64 // of the one that counts
		kept  int     // which that is
	}{
		{0, []float64{100, 101}, 1, 1.005, 1},
		{100, []float64{110, 111}, 1, 1.105, 1},
		{100, []float64{50, 50}, 1, 0.5, 1},
		{100, []float64{100, 130, 131}, 2, 1.305, 2},
		{100, []float64{100, 130, 125, 118, 100}, 4, 1.275, 2}, // never steady: 130 and 125 differ least
		{100, []float64{100, 97, 103, 108, 103}, 4, 0.985, 1},
	} {
		left := append([]float64{}, c.beats...)
		p := pacer{usual: c.usual, tick: func(context.Context) (float64, error) {
			if len(left) == 0 {
				return 0, errors.New("a beat more than was expected")
			}
			us := left[0]
			left = left[1:]
			return us, nil
		}}
		tries := 0
		measure := func() (capacity.Step, error) {
			tries++
			x := float64(tries)
			return capacity.Step{TickCPUMillis: capacity.Quantiles{P50: 2 * x, Mean: 3 * x}, StageCPUMicros: []capacity.Stage{{Name: "move", Mean: 5 * x, P99: 7 * x}}}, nil
		}
		got, err := p.timed(t.Context(), measure)
		if err != nil || tries != c.tries || len(left) != 0 {
			t.Fatalf("%d: %v, %d tries, expected %d; %d beats left", i, err, tries, c.tries, len(left))
		}
		for _, x := range [][2]float64{{got.TickCPUMillis.P50, 2}, {got.TickCPUMillis.Mean, 3}, {got.StageCPUMicros[0].Mean, 5}, {got.StageCPUMicros[0].P99, 7}} {
			if want := x[1] * float64(c.kept) / c.pace; math.Abs(x[0]/want-1) > 1e-9 {
				t.Errorf("%d: %g, expected %g", i, x[0], want)
			}
		}
		left, tries, p.last = append(left, c.beats...), 0, 0
		step, pace, err := p.between(t.Context(), measure) // as it was measured
		if err != nil || math.Abs(pace/c.pace-1) > 1e-9 || step.TickCPUMillis.Mean != 3*float64(c.kept) {
			t.Errorf("%d: %v: pace %g, expected %g, of try %g", i, err, pace, c.pace, step.TickCPUMillis.Mean/3)
		}
	}
}

// What fails in between fails.
func TestPacerFails(t *testing.T) {
	ill := errors.New("ill")
	for failing := range 3 {
		n := 0
		step := func() error {
			if n++; n-1 == failing {
				return ill
			}
			return nil
		}
		p := pacer{tick: func(context.Context) (float64, error) { return 1, step() }}
		if _, err := p.timed(t.Context(), func() (capacity.Step, error) { return capacity.Step{}, step() }); err != ill {
			t.Errorf("step %d: %v", failing, err)
		}
	}
}

// The lobby itself takes some time, and its first time is the usual one.
func TestPaceLobby(t *testing.T) {
	p := pacer{plays: 1}
	if err := p.beat(t.Context()); err != nil || p.last <= 0 || p.usual != p.last {
		t.Errorf("%v: %g, usual %g", err, p.last, p.usual)
	}
}
