package dst

import (
	"slices"
	"testing"
)

// dropFaults keeps the faults that the violation needs, and no others. A function replaces the run.
func TestDropFaults(t *testing.T) {
	const seed = 3
	n := len(Draw(seed).Faults)
	need := []int{2, n / 2, n - 1}
	start := &Violation{Case: Case{Seed: seed}}
	best, runs := start, 0
	dropFaults(start, func(c Case) bool {
		runs++
		for _, i := range need {
			if slices.Contains(c.Without, i) {
				return false
			}
		}
		best = &Violation{Case: c}
		return true
	}, &best)
	if left := n - len(best.Case.Without); left != len(need) || runs > 3*n {
		t.Errorf("%d of %d faults are left after %d runs: without %v", left, n, runs, best.Case.Without)
	}
}
