package search

import (
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// Sizes measures sizes that are given, in rounds: each size once, then each again. So two plans have
// the same sizes, however their machines differ. A void measurement is repeated once.
type Sizes struct {
	Objective *slo.Objective
	Players   []int         // the sizes, the smallest first
	Rounds    int           // how often each is measured
	Limit     time.Duration // end of the last step, from the start; 0: no limit
	Each      int           // players by which sizes grow, the smallest size; default 1
	Words     func(players int) string

	measured int // of all rounds
	again    bool
	steps    []measure.Step
	begun    time.Duration
	stepCost time.Duration
	timedOut bool
}

// Next returns the size to measure and the number of its round from 0, false at the end. The argument
// is the time since the first call.
func (s *Sizes) Next(elapsed time.Duration) (players, round int, ok bool) {
	if len(s.steps) > 0 {
		s.stepCost = max(s.stepCost, elapsed-s.begun)
	}
	s.begun = elapsed
	if s.measured == s.Rounds*len(s.Players) {
		return 0, 0, false
	}
	if s.Limit > 0 && elapsed+s.stepCost > s.Limit {
		s.timedOut = true
		return 0, 0, false
	}
	return s.Players[s.measured%len(s.Players)], s.measured / len(s.Players), true
}

// Record takes a measured step into account and returns it judged by the objective.
func (s *Sizes) Record(step measure.Step) measure.Step {
	step = s.Objective.Judge(step)
	s.steps = append(s.steps, step)
	if s.again = step.Void && !s.again; !s.again {
		s.measured++
	}
	return step
}

// verdict is what is known of a size.
type verdict struct {
	held   bool         // in each measurement that was not void, and there was one
	failed bool         // in one measurement or more
	last   measure.Step // that failed; if none did, the last one
}

// verdictOf judges a size by judged steps.
func verdictOf(players int, steps []measure.Step) (v verdict) {
	for _, step := range steps {
		switch {
		case step.Players != players:
		case !step.Void && !step.Pass:
			v.failed, v.last = true, step
		case !v.failed:
			v.held, v.last = v.held || step.Pass, step
		}
	}
	v.held = v.held && !v.failed
	return v
}

// Judged lists the sizes with at least one failed step, and the sizes with void steps only.
func Judged(sizes []int, steps []measure.Step) (failed, void []int) {
	for _, n := range sizes {
		switch v := verdictOf(n, steps); {
		case v.failed:
			failed = append(failed, n)
		case v.last.Void && !v.held:
			void = append(void, n)
		}
	}
	return failed, void
}

// Knee estimates the knee from the steps so far.
func (s *Sizes) Knee() Knee {
	e := newEstimate(s.Objective, max(s.Each, 1), slices.Max(s.Players))
	for _, step := range s.steps {
		e.add(step)
	}
	end := notEnded
	if s.timedOut {
		end = outOfTime
	}
	return e.knee(max(s.Each, 1), end, wordsOr(s.Words))
}
