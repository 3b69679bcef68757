package search

import (
	"math"
	"slices"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// estimate is what the steps so far say of the knee of each term, and of the least of them, which
// is the knee of the service level. Void steps say nothing.
type estimate struct {
	objective *slo.Objective
	grid      *grid
	terms     []*posterior
	steps     []measure.Step // judged, in their order, void ones included
}

// The interval of a knee holds it with a probability of 0.9.
const (
	lowQuantile  = 0.05
	highQuantile = 0.95
)

// newEstimate returns an estimate without a step. unit is the least size, most the largest one.
func newEstimate(o *slo.Objective, unit, most int) *estimate {
	e := &estimate{objective: o, grid: newGrid(float64(unit)/2, 8*float64(most))}
	for _, term := range o.Terms() {
		e.terms = append(e.terms, newPosterior(term, e.grid))
	}
	return e
}

// add takes a judged step into account.
func (e *estimate) add(s measure.Step) {
	e.steps = append(e.steps, s)
	if s.Void {
		return
	}
	for i, m := range e.objective.Margins(s) {
		e.terms[i].add(float64(s.Players), m)
	}
}

// spread is the distribution of a knee: its middle, its interval, and its tail.
type spread struct {
	low, middle, high float64
	above             []float64 // of each knee of the grid
}

func (g *grid) spread(above []float64) spread {
	return spread{g.quantile(above, lowQuantile), g.quantile(above, 0.5), g.quantile(above, highQuantile), above}
}

// beyond is the probability that the knee lies above a size.
func (e *estimate) beyond(s spread, size int) float64 {
	i, _ := slices.BinarySearch(e.grid.knees, math.Log(float64(size)))
	if i == 0 {
		return 1
	}
	return s.above[i-1]
}

// knees are the distributions of the knee of each term, of the least of them, and the probability of
// each term that its knee is the least. Terms count as independent.
func (e *estimate) knees() (terms []spread, least spread, byTerm []float64) {
	all := slices.Repeat([]float64{1}, len(e.grid.knees))
	for _, p := range e.terms {
		s := e.grid.spread(p.above())
		terms = append(terms, s)
		for i, a := range s.above {
			all[i] *= a
		}
	}
	byTerm = make([]float64, len(terms))
	before := 1.0
	for i := range all {
		hazards := 0.0
		for _, s := range terms {
			hazards += s.hazard(i)
		}
		for j, s := range terms {
			if hazards > 0 {
				byTerm[j] += (before - all[i]) * s.hazard(i) / hazards
			}
		}
		before = all[i]
	}
	return terms, e.grid.spread(all), byTerm
}

// hazard is the probability that the knee is knee i of the grid, given that it is not below.
func (s *spread) hazard(i int) float64 {
	before := 1.0
	if i > 0 {
		before = s.above[i-1]
	}
	if before <= 0 {
		return 0
	}
	return 1 - s.above[i]/before
}

// valid are the steps that are not void.
func (e *estimate) valid() (all []measure.Step) {
	for _, s := range e.steps {
		if !s.Void {
			all = append(all, s)
		}
	}
	return all
}
