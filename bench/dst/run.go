package dst

import (
	"slices"
	"time"
)

// Run plays a case and returns the first breach, nil if there is none. Some seeds are played a second time: without strangers, whom the
// match must not notice, or just so, which must give the same bits. The error is of a case that cannot be played.
func Run(c Case) (*Violation, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	w, err := newWorld(c, checks{})
	if err != nil {
		return nil, err
	}
	if b := w.run(); b != nil {
		return b, nil
	}
	again, deaf := c.Seed%5 == 1, c.Seed%5 == 3 && w.hasOutsiders()
	if !again && !deaf {
		return nil, nil
	}
	other, err := newWorld(c, checks{noOutsiders: deaf})
	if err != nil {
		return nil, err
	}
	if b := other.run(); b != nil && !deaf {
		return b, nil
	}
	n := firstDifference(w.trace, other.trace)
	if n < 0 {
		return nil, nil
	}
	for try := 0; deaf && try < 3; try++ { // was it the strangers, or is it another each time?
		third, err := newWorld(c, checks{})
		if err != nil {
			return nil, err
		}
		third.run()
		if at := firstDifference(w.trace, third.trace); at >= 0 {
			other, n, deaf = third, at, false
		}
	}
	if other.violation = nil; deaf {
		other.fail(Isolation, "the match is another without strangers")
	} else {
		other.fail(Determinism, "the match is another when its seed is played again")
	}
	other.violation.At = time.Duration(n+1) * 6 * w.rate.Period()
	other.violation.Case.Until = 0
	return other.violation, nil
}

// hasOutsiders says whether any are in the case.
func (w *world) hasOutsiders() bool {
	return slices.ContainsFunc(w.faults, func(f fault) bool { return f.Kind.outsider() })
}

// firstDifference is the first mark at which two traces differ, -1 for none.
func firstDifference(a, b []uint64) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// Faults describes what happens in a case, each with its number.
func Faults(c Case) []string {
	var lines []string
	for i, f := range Draw(c.Seed).Faults {
		if !slices.Contains(c.Without, i) {
			lines = append(lines, formatSet([]int{i})+"\t"+f.String())
		}
	}
	return lines
}
