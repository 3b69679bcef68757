package report

import (
	"math"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

func TestRepeats(t *testing.T) {
	var steps []measure.Step
	for i, p99 := range []float64{4, 5, 6, 99} {
		s := healthy(100)
		s.TickCPUMillis.P99, s.TickWallMillis.P99 = p99/2, p99 // elapsed time is judged
		s.ServerCores, s.KbpsDownPerClient, s.Pass, s.Void = 0.5, 80, i != 2, i == 3
		steps = append(steps, s)
	}
	r := RepeatsAt(100, append(steps, healthy(200)))
	// Student's t for two degrees of freedom: 4.3027 times the deviation 1 over the root of 3.
	if r == nil || r.Steps != 3 || r.Held != 2 || r.TickMillis.Mean != 5 ||
		math.Abs(r.TickMillis.HalfWidth-4.3027/math.Sqrt(3)) > 1e-4 ||
		r.Cores != (measure.Interval{Mean: 0.5}) {
		t.Errorf("%+v", r)
	}
	if RepeatsAt(200, append(steps, healthy(200))) != nil {
		t.Error("one step is repeated")
	}
}

// A size that did not hold every time is nothing to rely on.
func TestRepeatsDoubt(t *testing.T) {
	for _, c := range []struct {
		held, steps int
		doubt       string
	}{{2, 3, "900 players held in 2 of 3"}, {3, 3, ""}, {1, 1, ""}, {2, 4,
		"900 players held in 2 of 4 measurements only"}, {1, 4,
		"900 players held in 1 of 4 measurements only"}, {0, 2, "900 players held in 0 of 2"}} {
		r := Repeats{Players: 900, Held: c.held, Steps: c.steps}
		if got := r.Doubt(); (got == "") != (c.doubt == "") || !strings.HasPrefix(got, c.doubt) {
			t.Errorf("held %d of %d: %q, expected %q", c.held, c.steps, got, c.doubt)
		}
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
