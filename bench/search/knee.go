package search

import (
	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// Bound says whether a knee is exact.
type Bound string

// A knee is measured where a larger lobby failed; otherwise the machine carries at least that many
// players. Where no size has passed and none is known to fail, there is no knee yet.
const (
	Measured Bound = "measured"
	AtLeast  Bound = "at least"
	NotFound Bound = "not found"
)

// Knee is the largest lobby that held the service level in every repeat.
type Knee struct {
	Players   int   `json:"players"` // 0: no size held, or none is known to
	Bound     Bound `json:"bound"`
	FirstFail int   `json:"first_fail"` // smallest size that failed; 0: none
	// Terms of the service level that failed there.
	Binding []string `json:"binding"`
	Cause   string   `json:"cause,omitempty"` // of the step that failed there, see measure.Step
	// Smallest size that was measured, where the knee was not found; 0: none.
	Below int `json:"not_found_below,omitempty"`
	// The search ended because its time did.
	OutOfTime bool   `json:"out_of_time,omitempty"`
	Reason    string `json:"reason"` // why the search ended
	// The swarm is the limit: the server may carry more.
	Swarm bool `json:"swarm_limit,omitempty"`
	// The machine stalled at the next size, each time: the server may carry more.
	Stalled bool `json:"machine_limit,omitempty"`
}

// KneeOf judges steps that were measured earlier, in their order, as a search would have: those
// with a Repeat number as repeats. Under another objective than theirs, the gap between the knee
// and the first failure can be wide; Reason says how wide.
func KneeOf(o *slo.Objective, steps []measure.Step) Knee {
	s := Search{Objective: o}
	for _, step := range steps {
		s.Max = max(s.Max, step.Players+1)
		if step.Repeat > 0 {
			s.Repeat(step)
		} else {
			s.Record(step)
		}
	}
	return s.Knee()
}
