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
	FirstFail int      `json:"first_fail"` // smallest size seen to fail, 0 where none was
	Binding   []string `json:"binding"`    // the terms that failed there
	Reason    string   `json:"reason"`     // why the search ended, in words
}
