package capacity

// Bound says what a knee's number is worth.
type Bound string

// A knee is measured where a larger lobby was seen to fail; otherwise the machine carries at least that many.
const (
	Measured Bound = "measured"
	AtLeast  Bound = "at least"
)

// Knee is the largest lobby that held the service level.
type Knee struct {
	Players   int      `json:"players"`
	Bound     Bound    `json:"bound"`
	FirstFail int      `json:"first_fail"`            // smallest size seen to fail, 0 where none was
	Binding   []string `json:"binding"`               // the terms that failed there
	Reason    string   `json:"reason"`                // why the search ended, in words
	Swarm     bool     `json:"swarm_limit,omitempty"` // the swarm could load no more: nothing is known of what the server carries beyond
}

// Knee judges steps that were already measured, in the order they were, as a search would have. With another level
// than the one they were measured for, the gap between the knee and the first failure may be wide; Reason says how wide.
func (l Level) Knee(steps []Step) Knee {
	s := Search{Level: l}
	for _, step := range steps {
		s.Max = max(s.Max, step.Players+1)
		s.Record(step)
	}
	return s.Knee()
}
