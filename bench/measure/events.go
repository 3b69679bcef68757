package measure

import "fmt"

// Events are what the processor counted for a server, in user space, by player and tick.
type Events struct {
	Instructions float64 `json:"instructions"`
	Cycles       float64 `json:"cycles"`
	BranchMisses float64 `json:"branch_misses"`
	CacheMisses  float64 `json:"cache_misses"` // of the last level
}

// String is a line of text.
func (e Events) String() string {
	perCycle := 0.
	if e.Cycles > 0 {
		perCycle = e.Instructions / e.Cycles
	}
	return fmt.Sprintf("%.4g instructions a player and tick, %.2f a cycle; %.3g branch misses, %.3g last-level cache misses",
		e.Instructions, perCycle, e.BranchMisses, e.CacheMisses)
}
