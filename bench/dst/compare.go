package dst

import (
	"slices"
	"time"
)

// Result is the outcome of a case.
type Result struct {
	Violation *Violation // nil if every invariant held
	Hash      uint64     // of the server's match after the last tick; equal for equal cases

	// Played is the virtual time that lobbies played, the sum over those of a host. Repeats of the case
	// do not count.
	Played time.Duration
}

// Run plays a case. Seeds with remainder 1 by 5 are played twice and must match bit for bit
// (Determinism). Seeds with remainder 3 are played again without the attackers that have no
// session, which must not change the match (Isolation). The second runs have no checks, which change
// nothing either. The error is that of an invalid case.
func Run(c Case) (Result, error) {
	if err := c.Check(); err != nil {
		return Result{}, err
	}
	if c.Lobbies > 0 {
		return runHost(c)
	}
	r, err := newRun(c, skipped{})
	if err != nil {
		return Result{}, err
	}
	result := Result{Violation: r.play()}
	result.Hash, result.Played = r.Lobby.Match().Hash(), r.Now()
	if result.Violation == nil {
		result.Violation, err = r.compare()
	}
	return result, err
}

// compare plays a finished case again if its seed asks for it, and returns a violation if the
// second run differs.
func (r *run) compare() (*Violation, error) {
	again, alone := r.c.Seed%5 == 1, r.c.Seed%5 == 3 && r.hasOutsiders()
	if !again && !alone {
		return nil, nil
	}
	other, err := newRun(r.c, skipped{outsiders: alone, checks: true})
	if err != nil {
		return nil, err
	}
	if v := other.play(); v != nil && !alone { // a run without its attackers is compared, not judged
		return v, nil
	}
	at := firstDifference(r.trace, other.trace)
	if at < 0 {
		return nil, nil
	}
	if alone {
		if other, at, err = r.causeOfDifference(other, at); err != nil {
			return nil, err
		}
	}
	if other.violation = nil; other.skip.outsiders {
		other.fail(Isolation, "the match differs without the attackers that have no session")
	} else {
		other.fail(Determinism, "the match differs when its seed is played again")
	}
	other.violation.At = time.Duration(at+1) * traceEvery * r.rate.Period()
	other.violation.Case.Until = 0 // the replay must be whole to differ again
	return other.violation, nil
}

// causeOfDifference tells chance from the attackers after a run without them differed at index at
// of the traces. It plays the unchanged case up to three more times. If one differs, it returns
// that run and its index: the match is not deterministic. Otherwise it returns its arguments.
func (r *run) causeOfDifference(other *run, at int) (*run, int, error) {
	for range 3 {
		third, err := newRun(r.c, skipped{checks: true})
		if err != nil {
			return nil, 0, err
		}
		third.play()
		if n := firstDifference(r.trace, third.trace); n >= 0 {
			return third, n, nil
		}
	}
	return other, at, nil
}

// hasOutsiders reports whether the case has attackers without a session.
func (r *run) hasOutsiders() bool {
	return slices.ContainsFunc(r.faults, func(f fault) bool { return f.Kind.outsider() })
}

// firstDifference returns the first index at which two traces differ, -1 for none.
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

// Faults describes the faults of a case, one line each, by number.
func Faults(c Case) []string {
	var lines []string
	for i, f := range c.Draw().Faults {
		if !slices.Contains(c.Without, i) {
			lines = append(lines, formatSet([]int{i})+"\t"+f.String())
		}
	}
	return lines
}
