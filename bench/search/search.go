package search

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// Defaults of a search.
const (
	DefaultStart     = 64
	DefaultMax       = 4096
	DefaultTolerance = 0.05
)

// Search finds the knee: each step goes into an estimate, and the next size is the one whose
// measurement is expected to narrow the estimate most (Psi, of adaptive psychometrics). Set the
// fields, then alternate Next, a measurement and Record:
//
//	for {
//		players, ok := search.Next(elapsed)
//		if !ok {
//			break
//		}
//		plan.Steps = append(plan.Steps, search.Record(measure(players)))
//	}
//	plan.Knee = search.Knee()
//
// The search ends when half of the interval is within Tolerance of the knee, when its time is over,
// when the largest or the smallest size has decided, or when larger sizes cannot be measured.
type Search struct {
	Objective *slo.Objective // what a step must hold; default slo.Default
	Start     int            // first size, players
	Max       int            // largest size to try
	Tolerance float64        // wanted half width of the interval, as a part of the knee
	Limit     time.Duration  // end of the last step, from the start of the search; 0: no limit
	// Sizes are multiples of it: players of a lobby where lobbies grow; default 1.
	Each int
	// Names a size in reports; default "N players".
	Words func(players int) string

	estimate *estimate
	begun    time.Duration
	stepCost time.Duration
	asked    bool
	end      ending
}

// ending is why a search ended.
type ending int

const (
	notEnded    ending = iota
	narrow             // the interval is narrow enough
	outOfTime          // the time is over
	largestHeld        // the largest size holds
	noneHeld           // the smallest size fails
	blocked            // larger sizes cannot be measured
)

// Next returns the next size to measure, false when the search is over. The argument is the time
// since the search began; a step is assumed to take as long as the longest so far.
func (s *Search) Next(elapsed time.Duration) (players int, ok bool) {
	if s.asked {
		s.stepCost = max(s.stepCost, elapsed-s.begun)
	}
	players, s.end = s.next()
	if s.end == notEnded && s.Limit > 0 && elapsed+s.stepCost > s.Limit {
		s.end = outOfTime
	}
	s.begun, s.asked = elapsed, true
	return players, s.end == notEnded
}

// next is the size to measure next, or why there is none.
func (s *Search) next() (int, ending) {
	e := s.estimated()
	valid := e.valid()
	roof := e.roof()
	if len(valid) == 0 {
		return s.first(roof)
	}
	low, high := s.reach(valid)
	if low == s.each() && s.noneHolds(valid) {
		return 0, noneHeld
	}
	_, k, _ := e.knees()
	if s.allHold(valid, e.beyond(k, s.max())) {
		return 0, largestHeld
	}
	if roof > 0 && roof <= high {
		held := largestOf(valid)
		if high = s.below(roof, held); high <= held && (!anyFailed(valid) || e.beyond(k, held) > 0.5) {
			return 0, blocked
		}
		low = min(low, high)
	}
	if s.narrowEnough(k, valid) {
		return 0, narrow
	}
	if s.flat(valid) {
		return s.each(), notEnded
	}
	return e.narrowest(s.candidates(k, low, high)), notEnded
}

// first is the size of a search without a valid step: a smaller one where the first cannot be measured.
func (s *Search) first(roof int) (int, ending) {
	switch {
	case roof == 0:
		return min(s.whole(float64(orInt(s.Start, DefaultStart))), s.max()), notEnded
	case roof <= s.each():
		return 0, blocked
	}
	return s.below(roof, 0), notEnded
}

// below is a size below one that cannot be measured and above one that can: their middle, or the lower
// one where they are a quarter apart.
func (s *Search) below(roof, held int) int {
	if float64(roof) <= 1.25*float64(held) || roof-held <= s.each() {
		return held
	}
	if held == 0 {
		return s.whole(float64(roof) / 2)
	}
	return s.whole(math.Sqrt(float64(roof) * float64(held)))
}

// roof is the smallest size that cannot be measured, 0 if there is none: one of which and below
// which three steps more were void than were valid there and above.
func (e *estimate) roof() (least int) {
	for _, at := range e.steps {
		if !at.Void || least > 0 && at.Players >= least {
			continue
		}
		voids := 0
		for _, s := range e.steps {
			switch {
			case s.Void && s.Players <= at.Players:
				voids++
			case !s.Void && s.Players >= at.Players:
				voids--
			}
		}
		if voids >= 3 {
			least = at.Players
		}
	}
	return least
}

// reach is the smallest and the largest size that may be measured next: a quarter of the smallest so
// far (while none has failed a quarter more than the largest), and growth from the largest that held.
func (s *Search) reach(valid []measure.Step) (low, high int) {
	low, high = math.MaxInt, 0
	var held measure.Step
	for _, step := range valid {
		low, high = min(low, step.Players), max(high, step.Players)
		if step.Pass && step.Players > held.Players {
			held = step
		}
	}
	if held.Players > 0 {
		high = max(high, s.grown(held))
	}
	if high = min(high, s.max()); !anyFailed(valid) { // only a larger size can tell
		return min(max(s.whole(1.25*float64(held.Players)), held.Players+s.each()), high), high
	}
	return max(s.whole(float64(low)/4), s.each()), high
}

// anyFailed reports whether one of the steps failed.
func anyFailed(valid []measure.Step) bool {
	return slices.ContainsFunc(valid, func(step measure.Step) bool { return !step.Pass })
}

// grown is the size to which the search may grow from one that held: twice as large, or as many
// lobbies in a process as a processor can carry.
func (s *Search) grown(held measure.Step) int {
	ratio := 2.0
	if load := coreLoad(held); load > 0 {
		ratio = min(max(0.95/load, 1.15), 2)
		if few := 10 * s.each(); load < 0.2 && held.Players < few {
			ratio = float64(few) / float64(held.Players)
		}
	}
	return max(s.whole(float64(held.Players)*ratio), held.Players+s.each())
}

// coreLoad is the share of its processor that the server or the swarm used, whichever is larger, in
// a step of lobbies that share a process; 0 for others.
func coreLoad(s measure.Step) float64 {
	loops := len(s.LoopCallMillis)
	if loops == 0 {
		return 0
	}
	return max(s.ServerCores/float64(loops), s.SwarmCores)
}

// noneHolds reports whether the smallest size was measured twice and failed each time.
func (s *Search) noneHolds(valid []measure.Step) bool {
	failed := 0
	for _, step := range valid {
		if step.Pass {
			return false
		}
		if step.Players == s.each() {
			failed++
		}
	}
	return failed >= 2
}

// allHold reports whether the largest size holds: by the estimate, or because it held three times
// and nothing failed.
func (s *Search) allHold(valid []measure.Step, beyond float64) bool {
	held := 0
	for _, step := range valid {
		if step.Players == s.max() {
			held++
		}
	}
	return !anyFailed(valid) && (held >= 3 || held > 0 && beyond > 1-lowQuantile)
}

// narrowEnough reports whether the interval is within the tolerance, or names one size. Steps
// must have been measured near it.
func (s *Search) narrowEnough(k spread, valid []measure.Step) bool {
	held := slices.ContainsFunc(valid, func(step measure.Step) bool { return step.Pass })
	if !held || largestOf(valid) < int(k.middle) {
		return false
	}
	wanted := s.Tolerance
	if wanted <= 0 {
		wanted = DefaultTolerance
	}
	width := k.high - k.low
	return width <= 2*wanted*k.middle || width <= float64(s.each())
}

// flat reports whether nothing holds, and the load of a failing term was the same at two sizes
// far apart: then only the smallest size can tell whether any holds.
func (s *Search) flat(valid []measure.Step) bool {
	if slices.ContainsFunc(valid, func(step measure.Step) bool { return step.Pass }) || len(valid) < 2 {
		return false
	}
	last, e := valid[len(valid)-1], s.estimated()
	for _, step := range valid[:len(valid)-1] {
		if ratio := float64(last.Players) / float64(step.Players); ratio > 0.67 && ratio < 1.5 {
			continue
		}
		before := e.objective.Margins(step)
		for i, m := range e.objective.Margins(last) {
			if !m.Holds && math.Abs(math.Log(m.Load/before[i].Load)) < 0.1 {
				return true
			}
		}
	}
	return false
}

// candidates are the sizes among which the search chooses: quantiles of the knee that can be
// measured next.
func (s *Search) candidates(k spread, low, high int) (all []int) {
	for _, q := range []float64{0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98} {
		size := s.round(s.estimate.grid.quantile(k.above, q))
		if size = min(max(size, low), high); !slices.Contains(all, size) {
			all = append(all, size)
		}
	}
	return all
}

func (s *Search) max() int  { return max(orInt(s.Max, DefaultMax)/s.each(), 1) * s.each() }
func (s *Search) each() int { return max(s.Each, 1) }

// whole is the nearest multiple of Each, at least one.
func (s *Search) whole(players float64) int {
	return max(int(math.Round(players/float64(s.each()))), 1) * s.each()
}

// round returns the nearest round number (a multiple of 1, 2, 5, 10, 20, 50...) within one percent.
func (s *Search) round(x float64) int {
	if s.each() > 1 {
		return s.whole(x)
	}
	grain := 1.0
	for i := 0; ; i++ {
		by := [...]float64{2, 2.5, 2}[i%3]
		if grain*by > x/100 {
			return max(int(math.Round(x/grain)*grain), 1)
		}
		grain *= by
	}
}

// estimated is the estimate of the steps so far.
func (s *Search) estimated() *estimate {
	if s.estimate == nil {
		if s.Objective == nil {
			s.Objective = slo.Default()
		}
		s.estimate = newEstimate(s.Objective, s.each(), s.max())
	}
	return s.estimate
}

// Record takes a measured step into account and returns it judged by the objective.
func (s *Search) Record(step measure.Step) measure.Step {
	e := s.estimated()
	step = e.objective.Judge(step)
	e.add(step)
	return step
}

// Knee returns the knee as far as it is known, at any time: an interrupted plan has an answer, too.
func (s *Search) Knee() Knee {
	return s.estimated().knee(s.each(), s.end, wordsOr(s.Words))
}

// wordsOr is the function that names sizes, or one that counts players.
func wordsOr(words func(int) string) func(int) string {
	if words != nil {
		return words
	}
	return func(players int) string { return fmt.Sprintf("%d players", players) }
}

func orInt(x, zero int) int {
	if x > 0 {
		return x
	}
	return zero
}

// largestOf is the largest size of steps.
func largestOf(steps []measure.Step) (n int) {
	for _, s := range steps {
		n = max(n, s.Players)
	}
	return n
}
