package report

import (
	"math"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

// The floor is of the size that held nearest to the knee, which lies between sizes as a rule; where no
// size held, of the last one; and says why there is none.
func TestFloor(t *testing.T) {
	at := func(players int, pass, void bool, f measure.Floor) measure.Step {
		s := measure.Step{Players: players, Pass: pass, Void: void, ServerCores: 0.36, Floor: &f}
		return s
	}
	floor := func(millis, tick float64) measure.Floor {
		return measure.Floor{Millis: millis, Tick: tick, Process: 2 * tick}
	}
	var p Plan
	p.SLO.TickHz, p.Knee = 60, search.Knee{Players: 150}
	p.Steps = []measure.Step{at(60, true, false, floor(0.3, 9)), at(120, true, false, floor(0.5, 2)),
		at(200, false, false, floor(1, 3)), at(120, true, false, floor(0.7, 2.2)), at(120, false, true, floor(9, 9))}
	f := p.floor()
	if f == nil || f.Players != 120 || f.Steps != 2 || math.Abs(f.Millis-0.6) > 1e-9 || f.Tick.Mean != 2.1 ||
		f.Process.Mean != 4.2 || math.Abs(f.PlayerMillis-0.05) > 1e-9 {
		t.Fatalf("%+v", f)
	}
	if got := f.Words(); !strings.HasPrefix(got, "with 120 players 50.0 µs of CPU a player and tick; a tick takes 2.10 ±") {
		t.Error(got)
	}
	p.Knee.Players = 0
	if f := p.floor(); f == nil || f.Players != 120 { // the void step's size
		t.Errorf("without a knee: %+v", f)
	}
	p.Steps = []measure.Step{at(60, true, false, measure.Floor{NotMeasured: "no recvmmsg"})}
	if f := p.floor(); f == nil || f.Words() != "the floor was not measured: no recvmmsg" {
		t.Errorf("%+v", f)
	}
	if f := (Plan{Steps: []measure.Step{{Players: 9, Pass: true}}}).floor(); f != nil {
		t.Errorf("%+v of steps without a floor", f)
	}
}
