package report

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/bench/measure"
)

// Floor is the server's CPU time at one size as multiples of the floor: of what the same datagrams
// take in a loop that does nothing else, measured right after each step.
type Floor struct {
	Players      int     `json:"players"`
	Steps        int     `json:"steps"`           // that are not void
	Millis       float64 `json:"ms"`              // the floor of a tick of one lobby, mean of the steps
	PlayerMillis float64 `json:"cpu_ms_a_player"` // CPU time of the process by player and tick, likewise
	// Multiples of the floor: mean of the steps.
	Tick        measure.Interval `json:"tick"`    // of the CPU time of a tick
	Process     measure.Interval `json:"process"` // of that of all threads of the server, by tick and lobby
	NotMeasured string           `json:"not_measured,omitempty"`
}

// floor sums up the steps at the size that held nearest to the knee or, where no size held, at the
// size that was measured last; nil if no step has a floor.
func (p Plan) floor() *Floor {
	at, _ := p.AtKnee()
	players := at.Players
	for i := len(p.Steps) - 1; i >= 0 && players == 0; i-- {
		if s := p.Steps[i]; s.Floor != nil {
			players = s.Players
		}
	}
	f := Floor{Players: players}
	var tick, process []float64
	for _, s := range p.Steps {
		switch {
		case s.Players != players || s.Floor == nil || s.Void:
		case s.Floor.Millis > 0:
			f.Steps++
			f.Millis += s.Floor.Millis
			f.PlayerMillis += 1e3 * s.ServerCores / float64(s.Players*max(1, p.SLO.TickHz))
			tick, process = append(tick, s.Floor.Tick), append(process, s.Floor.Process)
		default:
			f.NotMeasured = s.Floor.NotMeasured
		}
	}
	if f.Steps == 0 {
		if f.NotMeasured == "" {
			return nil
		}
		return &f
	}
	f.Millis, f.PlayerMillis = f.Millis/float64(f.Steps), f.PlayerMillis/float64(f.Steps)
	f.Tick, f.Process = measure.IntervalOf(tick), measure.IntervalOf(process)
	return &f
}

// Words is the floor in one sentence, without a full stop.
func (f *Floor) Words() string {
	if f.Steps == 0 {
		return "the floor was not measured: " + f.NotMeasured
	}
	return fmt.Sprintf("with %d players %s µs of CPU a player and tick; a tick takes %s times what its datagrams "+
		"alone do (%s µs), the whole process %s times", f.Players, number(1e3*f.PlayerMillis), times(f.Tick),
		number(1e3*f.Millis), times(f.Process))
}

// times writes a multiple with its interval, if that is known.
func times(i measure.Interval) string {
	if math.IsInf(i.HalfWidth, 0) {
		return fmt.Sprintf("%.2f", i.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", i.Mean, i.HalfWidth)
}
