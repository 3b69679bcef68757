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
	DefaultTolerance = 0.08
)

// Search finds the knee in few steps: it grows the lobby until one fails, then halves the gap (in
// ratio) until the smallest failing size is within Tolerance of the largest passing one. Set the
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
// One failure proves little on a busy machine. A failure that quadratic growth from the last good
// step does not explain is measured again at once. The search treats all others as true, and
// measures the smallest again at the end, because it decides; if it passes, the search goes on
// above it. A failure by half or more is not measured again.
//
// A void step is measured again, too: the swarm may have had a bad moment. The second time, its
// size counts as a limit that is not the server's: the knee is a lower bound, and the search looks
// for a larger one below that limit with a wide tolerance.
type Search struct {
	Objective *slo.Objective // what a step must hold; default slo.Default
	Start     int            // first size, players
	Max       int            // largest size to try
	Tolerance float64        // wanted gap between knee and first failure, as a part of the knee
	Limit     time.Duration  // end of the last step, from the start of the search; 0: no limit
	// Sizes are multiples of it: players of a lobby where lobbies grow; default 1.
	Each int
	// Reports name a size as a number of lobbies of Each players.
	Lobbies bool

	good     measure.Step   // largest passing step
	passed   []measure.Step // every passing size below it, the smallest first
	unstable []int          // sizes that failed in a repeat
	bad      []miss         // larger sizes that failed or were void, the smallest first
	retry    int            // size to measure a second time; 0: none
	begun    time.Duration
	stepCost time.Duration
	asked    bool
	timedOut bool
}

// miss is a size that did not hold.
type miss struct {
	measure.Step // the last time
	times        int
}

// swarmLimitTolerance is the tolerance where the swarm is the limit: a lower bound is not worth
// more steps.
const swarmLimitTolerance = 0.25

// clearFailure is the load of a tick, as a part of its limit, from which on a failure is no
// accident.
const clearFailure = 1.5

// Next returns the next size to measure, false when the search is over. The argument is the time
// since the search began; steps are assumed to take as long as the longest so far.
func (s *Search) Next(elapsed time.Duration) (players int, ok bool) {
	if s.asked {
		s.stepCost = max(s.stepCost, elapsed-s.begun)
	}
	players, ok = s.next()
	if ok && s.Limit > 0 && elapsed+s.stepCost > s.Limit {
		s.timedOut = true
		return 0, false
	}
	s.begun, s.asked = elapsed, true
	return players, ok
}

func (s *Search) next() (int, bool) {
	switch {
	case s.retry > 0:
		return s.retry, true
	case len(s.bad) == 0 && s.good.Players == 0:
		return s.start(), true
	case len(s.bad) == 0:
		return s.grow()
	}
	if players, ok := s.halve(); ok {
		return players, true
	}
	if s.doubtful(s.bad[0]) {
		s.retry = s.bad[0].Players
	}
	return s.retry, s.retry > 0
}

// doubtful reports whether a miss may be an accident.
func (s *Search) doubtful(m miss) bool {
	return m.times < 2 && !m.Void && s.objective().TickLoad(m.Step) < clearFailure
}

func (s *Search) start() int {
	return min(s.wholeLobbies(float64(orInt(s.Start, DefaultStart))), s.max())
}
func (s *Search) max() int  { return max(orInt(s.Max, DefaultMax)/s.each(), 1) * s.each() }
func (s *Search) each() int { return max(s.Each, 1) }

// wholeLobbies is the nearest multiple of Each, at least one.
func (s *Search) wholeLobbies(players float64) int {
	return max(int(math.Round(players/float64(s.each()))), 1) * s.each()
}

func (s *Search) tolerance() float64 {
	least := 0.0
	if len(s.bad) > 0 && s.bad[0].Void {
		least = swarmLimitTolerance
	}
	if s.Tolerance > 0 {
		return max(s.Tolerance, least)
	}
	return max(DefaultTolerance, least)
}

// grow doubles the size while a tick that grows with the square of the players would hold, and
// takes smaller steps after that. Lobbies that share a process grow its load in proportion: the next
// size is one that a processor can carry.
func (s *Search) grow() (int, bool) {
	if s.good.Players >= s.max() {
		return 0, false
	}
	ratio := 1.6
	if load := coreLoad(s.good); load > 0 {
		ratio = min(max(0.95/load, 1.15), 2)
		if few := 10 * s.each(); load < 0.2 && s.good.Players < few {
			ratio = float64(few) / float64(s.good.Players)
		}
	} else if s.objective().TickLoad(s.good) < 0.25 {
		ratio = 2
	}
	next := s.round(float64(s.good.Players) * ratio)
	return min(max(next, s.good.Players+s.each()), s.max()), true
}

func (s *Search) halve() (int, bool) {
	lo, hi := s.good.Players, s.bad[0].Players
	if hi-lo <= s.each() || (lo > 0 && float64(hi) <= float64(lo)*(1+s.tolerance())) {
		return 0, false
	}
	middle := math.Sqrt(float64(max(lo, 1)) * float64(hi))
	if lo == 0 {
		middle = float64(hi) / 2 // nothing has passed yet, so there is no ratio to halve
	}
	return min(max(s.round(middle), lo+s.each()), hi-s.each()), true
}

// round returns the nearest round number (a multiple of 1, 2, 5, 10, 20, 50...) within a quarter of
// the tolerance.
func (s *Search) round(x float64) int {
	if s.each() > 1 {
		return s.wholeLobbies(x)
	}
	grain, fine := 1.0, x*s.tolerance()/4
	for i := 0; ; i++ {
		by := [...]float64{2, 2.5, 2}[i%3]
		if grain*by > fine {
			return int(math.Round(x/grain) * grain)
		}
		grain *= by
	}
}

func (s *Search) objective() *slo.Objective {
	if s.Objective == nil {
		s.Objective = slo.Default()
	}
	return s.Objective
}

// Record takes a measured step into account and returns it judged by the objective.
func (s *Search) Record(step measure.Step) measure.Step {
	step = s.objective().Judge(step)
	s.retry = 0
	if step.Pass && !slices.Contains(s.unstable, step.Players) {
		s.pass(step)
		return step
	}
	roof := slices.ContainsFunc(s.bad, func(m miss) bool { return m.Void && m.times > 1 })
	m := s.miss(step)
	if m.times == 1 && (step.Void && !roof || !step.Void && s.surprising(step)) ||
		m.times == 2 && step.Stalled {
		s.retry = step.Players
	}
	return step
}

func (s *Search) pass(step measure.Step) {
	if step.Players > s.good.Players {
		s.good = step
		s.passed = append(s.passed, step)
	}
	s.bad = slices.DeleteFunc(s.bad, func(m miss) bool { return m.Players <= s.good.Players })
}

// miss notes that a size did not hold.
func (s *Search) miss(step measure.Step) *miss {
	at, known := slices.BinarySearchFunc(s.bad, step.Players, func(m miss,
		players int) int {
		return m.Players - players
	})
	if !known {
		s.bad = slices.Insert(s.bad, at, miss{})
	}
	m := &s.bad[at]
	m.Step = step
	m.times++
	return m
}

// Repeat takes another measurement of the knee's size into account and returns it judged. A size
// that fails in a repeat is the knee no more: the search goes on below it.
func (s *Search) Repeat(step measure.Step) measure.Step {
	step = s.objective().Judge(step)
	if step.Pass || step.Void || step.Players != s.good.Players {
		return step
	}
	s.unstable = append(s.unstable, step.Players)
	s.miss(step).times = 2 // it failed while it was expected to hold: no accident
	s.passed = slices.DeleteFunc(s.passed, func(p measure.Step) bool { return p.Players >= step.Players })
	s.good = measure.Step{}
	if n := len(s.passed); n > 0 {
		s.good = s.passed[n-1]
	}
	return step
}

func (s *Search) surprising(step measure.Step) bool {
	if s.good.Players == 0 {
		return false
	}
	ratio := float64(step.Players) / float64(s.good.Players)
	if load := coreLoad(s.good); load > 0 {
		return load*ratio < 0.9
	}
	return s.objective().TickLoad(s.good)*ratio*ratio < 1
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

// Knee returns the knee as far as it is known, at any time: an interrupted plan has an answer, too.
// A miss that was due for a second measurement and did not get it decides nothing.
func (s *Search) Knee() Knee {
	k := Knee{Players: s.good.Players, Bound: AtLeast, OutOfTime: s.timedOut}
	bad := s.bad
	if s.good.Players == 0 {
		k.Bound = NotFound
		if len(bad) > 0 {
			k.Below = bad[0].Players
		}
	}
	if s.retry > 0 && len(bad) > 0 && bad[0].Players == s.retry && !s.confirming() {
		bad = bad[1:]
	}
	switch {
	case len(bad) == 0 && s.retry > 0:
		k.Reason = fmt.Sprintf("%s failed once and were not measured again%s", s.words(s.retry),
			s.timeWords())
	case len(bad) == 0 && s.good.Players == 0:
		k.Reason = "nothing was measured"
	case len(bad) == 0 && s.good.Players >= s.max():
		k.Reason = fmt.Sprintf("%s is the largest size that was asked for", s.words(s.good.Players))
	case len(bad) == 0:
		k.Reason = "the search ended before any lobby failed"
		if s.timedOut {
			k.Reason = "the search ran out of time before any lobby failed"
		}
	case bad[0].Void && bad[0].Stalled:
		k.Stalled = true
		k.Reason = fmt.Sprintf("%s could not be measured: %s", s.words(bad[0].Players), bad[0].VoidReason)
	case bad[0].Void && bad[0].Invalid:
		k.Reason = fmt.Sprintf("%s could not be measured: %s", s.words(bad[0].Players), bad[0].VoidReason)
	case bad[0].Void:
		k.Swarm = true
		k.Reason = fmt.Sprintf("the swarm could not load %s: %s", s.words(bad[0].Players), bad[0].VoidReason)
	default:
		k.Bound, k.FirstFail, k.Binding, k.Below = Measured, bad[0].Players, bad[0].Failed, 0
		k.Cause = bad[0].Cause
		k.Reason = s.measuredWords(bad[0])
	}
	return k
}

// confirming reports whether the second measurement that is due is the last of the search.
func (s *Search) confirming() bool { _, more := s.halve(); return !more }

func (s *Search) measuredWords(bad miss) string {
	once := ""
	if s.doubtful(bad) {
		once = ", measured once"
	}
	if s.good.Players == 0 {
		return fmt.Sprintf("no lobby passed, not even %s%s%s", s.words(bad.Players), once, s.timeWords())
	}
	gap := float64(bad.Players)/float64(s.good.Players) - 1
	return fmt.Sprintf("%s failed%s, %.0f %% above the knee%s", s.words(bad.Players), once, 100*gap,
		s.timeWords())
}

// words names a size.
func (s *Search) words(players int) string {
	if s.Lobbies && s.Each > 0 {
		if players == s.Each {
			return fmt.Sprintf("1 lobby of %d", s.Each)
		}
		return fmt.Sprintf("%d lobbies of %d", players/s.Each, s.Each)
	}
	return fmt.Sprintf("%d players", players)
}

func (s *Search) timeWords() string {
	if s.timedOut {
		return ", then the search ran out of time"
	}
	return ""
}

func orInt(x, zero int) int {
	if x > 0 {
		return x
	}
	return zero
}
