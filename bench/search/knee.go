package search

import (
	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// Bound says what a knee's number is worth.
type Bound string

// A knee is measured where a larger lobby was seen to fail; otherwise the machine carries at least that many.
const (
	Measured Bound = "measured"
	AtLeast  Bound = "at least"
)

// Knee is the largest lobby that held the service level in every repeat.
type Knee struct {
	Players   int      `json:"players"`
	Bound     Bound    `json:"bound"`
	FirstFail int      `json:"first_fail"`            // smallest size seen to fail, 0 where none was
	Binding   []string `json:"binding"`               // the terms that failed there
	Reason    string   `json:"reason"`                // why the search ended, in words
	Swarm     bool     `json:"swarm_limit,omitempty"` // the swarm could load no more: nothing is known of what the server carries beyond
}

// KneeOf judges steps that were measured earlier, in their order, as a search would have: those with a Repeat number as
// repeats. Under another objective than theirs, the gap between the knee and the first failure can be wide; Reason says
// how wide.
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
