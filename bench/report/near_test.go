package report

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

func TestNearKnee(t *testing.T) {
	var steps []measure.Step
	for i, p99 := range []float64{4, 5, 6, 99} {
		s := healthy(100 + i)
		s.TickCPUMillis.P99, s.TickWallMillis.P99 = p99/2, p99 // elapsed time is judged
		s.ServerCores, s.KbpsDownPerClient, s.Pass, s.Void = 0.5, 80, i != 2, i == 3
		steps = append(steps, s)
	}
	n := nearKnee(search.Knee{Low: 90, High: 110}, append(steps, healthy(200)))
	// Student's t for two degrees of freedom: 4.3027 times the deviation 1 over the root of 3.
	if n == nil || n.Steps != 3 || n.Held != 2 || n.TickMillis.Mean != 5 ||
		math.Abs(n.TickMillis.HalfWidth-4.3027/math.Sqrt(3)) > 1e-4 ||
		n.Cores != (measure.Interval{Mean: 0.5}) {
		t.Errorf("%+v", n)
	}
	if nearKnee(search.Knee{Low: 101, High: 101}, steps) != nil || nearKnee(search.Knee{Low: 90}, steps) != nil {
		t.Error("one step, or an open interval, is summed up")
	}
}

func TestAccountedStep(t *testing.T) {
	b := &measure.Bytes{Received: 80, Clients: 1,
		Cells: []measure.Cell{{Component: "player", Reason: "update", Bits: 640}}}
	at := func(players int, pass, void bool, b *measure.Bytes) measure.Step {
		return measure.Step{Players: players, Pass: pass, Void: void, Bytes: b}
	}
	for i, c := range []struct {
		knee  int
		steps []measure.Step
		want  int // players; 0: none
	}{
		{0, nil, 0},
		{8, []measure.Step{at(4, true, false, b), at(8, true, false, b), at(16, false, false, b)}, 8},
		{8, []measure.Step{at(4, true, false, b), at(8, true, false, nil)}, 0},
		{0, []measure.Step{at(4, false, false, b), at(8, false, true, b)}, 4},
		{0, []measure.Step{at(4, false, false, &measure.Bytes{})}, 0},
	} {
		s, ok := Plan{Knee: search.Knee{Players: c.knee}, Steps: c.steps}.Accounted()
		if ok != (c.want != 0) || ok && s.Players != c.want {
			t.Errorf("%d: %d players, %v; want %d", i, s.Players, ok, c.want)
		}
	}
}
