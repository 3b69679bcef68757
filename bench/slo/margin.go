package slo

import (
	"math"
	"strings"

	"github.com/tickrate/tickrate/bench/measure"
)

// Margin is how a step stands to one term of a service level.
type Margin struct {
	Term string // as Objective.Terms has it
	// The judged figure as a part of its limit: 1 at the limit, above 1 where the term fails. Of
	// terms joined by && it is the largest, of those joined by || the least. NaN: the term counts
	// events, or a figure was not measured, and only Holds is known.
	Load  float64
	Holds bool
}

// Margins judges a step by each term that must hold, in the order of Terms. A step with a Fault
// fails all of them.
func (o *Objective) Margins(s measure.Step) (all []Margin) {
	for _, c := range o.all.parts() {
		m := Margin{Term: text(&c), Load: math.NaN()}
		if s.Fault == "" {
			m.Load, m.Holds = o.load(&c, s), len(o.missed(&c, s)) == 0
		}
		all = append(all, m)
	}
	return all
}

// load is the part of its limit that a condition fills, NaN where that is not known.
func (o *Objective) load(c *condition[term], s measure.Step) float64 {
	if c.term != nil {
		return o.loadOf(c.term, s)
	}
	most := math.NaN()
	for i := range c.of {
		x := o.load(&c.of[i], s)
		switch {
		case math.IsNaN(x):
			return x
		case i == 0 || c.any == (x < most):
			most = x
		}
	}
	return most
}

// loadOf is the part of its limit that the figure of a comparison fills. It is NaN for counts of
// losses, which are mostly 0, and for figures that were not measured.
func (o *Objective) loadOf(t *term, s measure.Step) float64 {
	if t.op == "==" || strings.Contains(t.left+t.right, "lost(") {
		return math.NaN()
	}
	e := newEnv(o.level, s)
	figure, err := value(t.leftValue, e)
	limit, err2 := value(t.rightVal, e)
	if t.op == ">" || t.op == ">=" {
		figure, limit = limit, figure
	}
	if err != nil || err2 != nil || len(*e.missing) > 0 || !(figure > 0) || !(limit > 0) {
		return math.NaN()
	}
	return figure / limit
}
