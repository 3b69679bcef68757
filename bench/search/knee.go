package search

import (
	"fmt"
	"math"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/slo"
)

// Bound says whether a knee has an interval.
type Bound string

// A knee is measured where it lies among the measured sizes. Beyond them, the machine carries at
// least that many players, with a probability of 0.95. Where sizes failed and none is known to
// hold, there is no knee yet.
const (
	Measured Bound = "measured"
	AtLeast  Bound = "at least"
	NotFound Bound = "not found"
)

// Knee is the size at which a step holds the service level with probability 1/2: the least of the
// knees of its terms.
type Knee struct {
	// The middle of the interval or, of an open one, its lower end. 0: no size holds, or none is known
	// to.
	Players int `json:"players"`
	// The interval that holds the knee with a probability of 0.9. High 0: open, the knee is Low at
	// least, with a probability of 0.95.
	Low   int    `json:"low"`
	High  int    `json:"high"`
	Bound Bound  `json:"bound"`
	Term  string `json:"term"` // whose knee is the least; "": no step was valid
	// Of all terms of the service level, in their order.
	Terms []TermKnee `json:"terms"`
	// Size of the step that failed, of those the nearest to the knee; 0: none failed.
	FailedAt int      `json:"failed_at"`
	Failed   []string `json:"failed"` // terms that failed there
	Cause    string   `json:"cause,omitempty"`
	// Smallest size that was measured, where the knee was not found; 0: none.
	Below int `json:"not_found_below,omitempty"`
	// The search ended because its time did.
	OutOfTime bool   `json:"out_of_time,omitempty"`
	Reason    string `json:"reason"` // why the search ended
	// The swarm is the limit: the server may carry more.
	Swarm bool `json:"swarm_limit,omitempty"`
	// The machine stalled at larger sizes: the server may carry more.
	Stalled bool `json:"machine_limit,omitempty"`
}

// TermKnee is the knee of one term of the service level.
type TermKnee struct {
	Term    string  `json:"term"`
	Players int     `json:"players"` // as in Knee
	Low     int     `json:"low"`
	High    int     `json:"high"`  // 0: open
	Least   float64 `json:"least"` // probability that no other term has a smaller knee
}

// KneeOf estimates the knee from steps that were measured earlier; it judges them by the objective.
// each is the number of players by which sizes grow; words names a size.
func KneeOf(o *slo.Objective, steps []measure.Step, each int, words func(players int) string) Knee {
	each = max(each, 1)
	e := newEstimate(o, each, max(largestOf(steps), each))
	for _, s := range steps {
		e.add(o.Judge(s))
	}
	return e.knee(each, notEnded, wordsOr(words))
}

// knee sums up the estimate. each is the smallest size.
func (e *estimate) knee(each int, end ending, words func(int) string) Knee {
	k := Knee{Bound: NotFound, OutOfTime: end == outOfTime, Failed: []string{}, Terms: []TermKnee{}}
	valid := e.valid()
	if len(valid) == 0 {
		k.voids(e.steps, end, words)
		return k
	}
	terms, least, byTerm := e.knees()
	most, smallest, held := largestOf(valid), valid[0].Players, 0
	for _, s := range valid {
		smallest = min(smallest, s.Players)
		if s.Pass {
			held++
		}
	}
	first := 0
	for i, p := range e.terms {
		t := TermKnee{Term: p.term, Least: math.Round(1000*byTerm[i]) / 1000}
		t.Players, t.Low, t.High = interval(terms[i], each, most)
		k.Terms = append(k.Terms, t)
		if byTerm[i] > byTerm[first] {
			first = i
		}
	}
	k.Term = k.Terms[first].Term
	k.Players, k.Low, k.High = interval(least, each, most)
	switch {
	case held == 0:
		k.Players, k.Low, k.High, k.Below = 0, 0, 0, smallest
		if smallest == each || end == noneHeld {
			k.Bound, k.Below = Measured, 0
		}
	case k.High == 0 || held == len(valid):
		k.Bound, k.Players, k.High = AtLeast, k.Low, 0
	default:
		k.Bound = Measured
	}
	k.failure(valid)
	k.Reason = k.reason(e, end, len(valid), words)
	return k
}

// interval rounds a distribution to sizes. Where the middle lies beyond the largest valid size, the
// interval is open, and its lower end is that size at most.
func interval(s spread, each, most int) (players, low, high int) {
	down := func(x float64) int { return int(x) / each * each }
	if s.middle > float64(most) {
		low = max(down(min(s.low, float64(most))), each)
		return low, low, 0
	}
	players = max(down(s.middle), each)
	return players, min(max(down(s.low), each), players), max(down(math.Ceil(s.high)), players)
}

// failure names the failed step nearest to the knee.
func (k *Knee) failure(valid []measure.Step) {
	nearest := math.Inf(1)
	for _, s := range valid {
		far := math.Abs(math.Log(float64(s.Players) / float64(max(k.Players, 1))))
		if !s.Pass && far < nearest {
			nearest, k.FailedAt, k.Failed, k.Cause = far, s.Players, s.Failed, s.Cause
		}
	}
}

// reason says why the search ended, and of how many steps it knows.
func (k *Knee) reason(e *estimate, end ending, valid int, words func(int) string) string {
	from := fmt.Sprintf("from %d steps", valid)
	if valid == 1 {
		from = "from 1 step"
	}
	roof := e.roof()
	switch {
	case end == blocked || k.Bound == AtLeast && roof > 0:
		void := e.steps[0]
		for _, s := range e.steps {
			if s.Void && s.Players == roof {
				void = s
			}
		}
		k.blame(void)
		return fmt.Sprintf("%s could not be measured: %s", words(roof), void.VoidReason)
	case k.Bound == Measured && k.Players == 0:
		return fmt.Sprintf("not even %s held: %s", words(k.FailedAt), k.Failed[0])
	case end == largestHeld:
		return fmt.Sprintf("%s is the largest size that was measured", words(largestOf(e.valid())))
	case end == outOfTime:
		return from + ", then the time was over"
	}
	return from
}

// voids sums up steps of which none is valid.
func (k *Knee) voids(steps []measure.Step, end ending, words func(int) string) {
	if len(steps) == 0 {
		k.Reason = "nothing was measured"
		return
	}
	void := steps[0]
	for _, s := range steps {
		if s.Players < void.Players {
			void = s
		}
	}
	if k.Below = void.Players; len(steps) > 1 { // once is an accident
		k.blame(void)
	}
	k.Reason = fmt.Sprintf("%s could not be measured: %s", words(void.Players), void.VoidReason)
	if end == outOfTime {
		k.Reason += "; then the time was over"
	}
}

// blame notes what kept a size from being measured. Wrong figures are nobody's fault.
func (k *Knee) blame(void measure.Step) {
	k.Stalled = void.Stalled
	k.Swarm = !void.Stalled && !void.Invalid
}
