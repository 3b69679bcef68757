// How a plan ended: its exit code, and the sentence that says why.

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/search"
)

// The ends of a plan that are no success. Each has an exit code of its own, see exitCode.
var (
	errMissed      = errors.New("the service level failed")
	errInterrupted = errors.New("interrupted")
	errOutOfTime   = errors.New("out of time")
)

// outcome is the error of a plan that ended without the answer that was asked for; nil for a knee, or
// where all given sizes held.
func outcome(p report.Plan) error {
	k := p.Knee
	switch {
	case p.Partial:
		return fmt.Errorf("%w after %s", errInterrupted, several(len(p.Steps), "step"))
	case len(p.Sizes) > 0:
		return sizesOutcome(p)
	case k.Bound == search.Measured && k.Players == 0:
		return fmt.Errorf("%w: %s", errMissed, k.Reason)
	case len(p.Steps) > 0 && p.Voids() == len(p.Steps):
		return fmt.Errorf("%w: %s", errVoid, p.Steps[len(p.Steps)-1].VoidReason)
	case k.OutOfTime && k.Bound != search.Measured:
		return fmt.Errorf("%w before the knee was found; --limit sets the time", errOutOfTime)
	}
	return nil
}

// sizesOutcome is the outcome of a plan of given sizes.
func sizesOutcome(p report.Plan) error {
	names := func(sizes []int) string {
		var all []string
		for _, n := range sizes {
			all = append(all, p.Growth(n))
		}
		return strings.Join(all, ", ")
	}
	failed, void := search.Judged(p.Sizes, p.Steps)
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%w at %s", errMissed, names(failed))
	case p.Knee.OutOfTime:
		return fmt.Errorf("%w before all sizes were measured; --limit sets the time", errOutOfTime)
	case len(void) > 0:
		return fmt.Errorf("%w of %s", errVoid, names(void))
	}
	return nil
}
