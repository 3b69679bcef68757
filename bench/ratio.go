package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// ErrLimit is an *InputError's cause: a line was faster than its limit by more than the interval.
var ErrLimit = errors.New("a benchmark is faster than its limit")

// errUnits is an *InputError's cause: a line and its opponent count different things.
var errUnits = errors.New("a line and its opponent have different units")

// leastRuns is the number of runs from which a median of them has a 95 % interval.
const leastRuns = 6

// paired is the ratio of the times of the lines a and b, round by round: what disturbs a round disturbs
// both. ok is false if they have fewer than leastRuns rounds, not equally many, or a time of 0. It returns
// an error if they do not have one unit of time.
func paired(a, b *series) (ratio benchmath.Summary, ok bool, err error) {
	unit := a.main()
	if other := b.main(); other != unit || !isTime(unit) {
		return ratio, false, &InputError{0, fmt.Sprintf("one unit of time for %s and %s, got %s and %s",
			a.name(), b.name(), unit, other), errUnits}
	}
	of, by := a.runs[unit], b.runs[unit]
	if len(of) < leastRuns || len(of) != len(by) {
		return ratio, false, nil
	}
	var rounds []float64
	for i := range of {
		if by[i] <= 0 {
			return ratio, false, nil
		}
		rounds = append(rounds, of[i]/by[i])
	}
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(rounds, &benchmath.DefaultThresholds), 0.95), true, nil
}

// opponents are the rivals and the limits of all benchmarks.
type opponents struct{ rivals, limits []opponent }

// check returns an error if the description of an opponent is missing or too long.
func (t opponents) check() error {
	for _, table := range [][]opponent{t.rivals, t.limits} {
		for i := range table {
			if err := table[i].check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// against tells how a line compares with its opponents and with the tick's period. The line of a rival or
// a limit has its description.
func (t opponents) against(s *series, all []*series) (string, error) {
	var texts []string
	for i := range t.rivals {
		text, err := t.rivals[i].outrun(s, all)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	for i := range t.limits {
		text, err := t.limits[i].bound(s, all)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	texts = append(texts, within(s))
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "; "), nil
}

// outrun tells how many times as fast as a rival a line is.
func (o *opponent) outrun(s *series, all []*series) (string, error) {
	line := o.line(s, all)
	switch line {
	case nil:
		return "", nil
	case s:
		return "rival: " + cell(o.what), nil
	}
	r, ok, err := paired(line, s)
	switch {
	case err != nil || !ok:
		return "", err
	case unsteady(r):
		return "no steady ratio to " + cell(o.what), nil
	case r.Lo <= 1 && r.Hi >= 1:
		return "no difference from " + cell(o.what), nil
	}
	return number(r.Center) + "x ±" + r.PctRangeString() + " " + cell(o.what), nil
}

// bound tells the time of a line as a multiple of its limit. It returns an error if the line takes
// less time, by more than the interval.
func (o *opponent) bound(s *series, all []*series) (string, error) {
	line := o.line(s, all)
	switch line {
	case nil:
		return "", nil
	case s:
		return "limit: " + cell(o.what), nil
	}
	r, ok, err := paired(s, line)
	switch {
	case err != nil || !ok:
		return "", err
	case r.Hi < 1:
		return "", &InputError{0, fmt.Sprintf("%s/%s to take at least as long as its limit %s, got %s of it "+
			"(%s to %s): mend the limit, or measure on a quiet machine", s.pkg, s.name(), o.variant,
			number(r.Center), number(r.Lo), number(r.Hi)), ErrLimit}
	}
	if unsteady(r) {
		return "no steady ratio to the limit " + cell(o.what), nil
	}
	return number(r.Center) + " ±" + r.PctRangeString() + " of the limit " + cell(o.what), nil
}

// unsteady reports whether the upper end of a ratio's interval is more than twice the lower end.
func unsteady(r benchmath.Summary) bool { return r.Hi > 2*r.Lo }

// within is how often a tick fits into its period, for a benchmark with a unit cores@RATE.
func within(s *series) string {
	for _, u := range s.units {
		if what, rate, ok := strings.Cut(u, "@"); ok && what == "cores" {
			if v := summary(s, u); v.Center > 0 {
				text := number(1/v.Center) + "x "
				if half := spread(v); half != "" {
					text += "±" + half + " "
				}
				return text + "within the period at " + rate
			}
		}
	}
	return ""
}
