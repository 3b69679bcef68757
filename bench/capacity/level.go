package capacity

import (
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Defaults of a service level.
const (
	DefaultTickHz       = 60
	DefaultSendEvery    = 3
	DefaultTickShare    = 0.6
	DefaultAgeIntervals = 2.0
)

// Level is a service level: what a step must hold to pass. Zero fields mean the defaults above.
type Level struct {
	TickHz        int     `json:"tick_hz"`          // simulation rate, ticks a second
	SendEvery     int     `json:"send_every_ticks"` // a snapshot is sent every so many ticks
	TickShare     float64 `json:"tick_share"`       // p99 of a tick's CPU time may fill this part of the period
	WallShare     float64 `json:"wall_share"`       // the same for elapsed time; 0 takes TickShare, below 0 is not judged
	AgeIntervals  float64 `json:"age_intervals"`    // p99 snapshot age, in send intervals
	MaxInputsLost uint64  `json:"max_inputs_lost"`
	Expr          string  `json:"expr,omitempty"` // an Objective that is judged in place of the fields above
}

// WithDefaults returns l with its zero fields filled.
func (l Level) WithDefaults() Level {
	if l.TickHz <= 0 {
		l.TickHz = DefaultTickHz
	}
	if l.SendEvery <= 0 {
		l.SendEvery = DefaultSendEvery
	}
	if !(l.TickShare > 0) {
		l.TickShare = DefaultTickShare
	}
	if l.WallShare == 0 || math.IsNaN(l.WallShare) {
		l.WallShare = l.TickShare
	}
	if !(l.AgeIntervals > 0) {
		l.AgeIntervals = DefaultAgeIntervals
	}
	return l
}

// PeriodMillis is the length of a tick.
func (l Level) PeriodMillis() float64 { return 1000 / float64(l.WithDefaults().TickHz) }

// TickLimitMillis is the most that p99 tick CPU time may be.
func (l Level) TickLimitMillis() float64 { return l.PeriodMillis() * l.WithDefaults().TickShare }

// WallLimitMillis is the most that p99 elapsed tick time may be, +Inf where it is not judged.
func (l Level) WallLimitMillis() float64 {
	if share := l.WithDefaults().WallShare; share > 0 {
		return l.PeriodMillis() * share
	}
	return math.Inf(1)
}

// IntervalMillis is the time between two snapshots to one client.
func (l Level) IntervalMillis() float64 {
	return l.PeriodMillis() * float64(l.WithDefaults().SendEvery)
}

// AgeLimitMillis is the most that p99 snapshot age may be.
func (l Level) AgeLimitMillis() float64 { return l.IntervalMillis() * l.WithDefaults().AgeIntervals }

// Words describes the level in one line.
func (l Level) Words() string {
	l = l.WithDefaults()
	if l.Expr != "" {
		return strings.ReplaceAll(l.Expr, "&&", ";")
	}
	clock := "CPU"
	if l.WallShare == l.TickShare {
		clock = "CPU and elapsed"
	}
	lost := "no input lost"
	if l.MaxInputsLost > 0 {
		lost = fmt.Sprintf("at most %d inputs lost", l.MaxInputsLost)
	}
	words := fmt.Sprintf("p99 tick (%s) within %.0f %% of %.1f ms", clock, 100*l.TickShare, l.PeriodMillis())
	if l.WallShare > 0 && l.WallShare != l.TickShare {
		words += fmt.Sprintf(", elapsed within %.0f %%", 100*l.WallShare)
	}
	return fmt.Sprintf("%s; %s; p99 snapshot age at most %g send intervals (%.0f ms)",
		words, lost, l.AgeIntervals, l.AgeLimitMillis())
}

// Objective is the level as an expression: Expr, or what the other fields mean.
func (l Level) Objective() string {
	if l.Expr != "" {
		return l.Expr
	}
	l = l.WithDefaults()
	terms := []string{fmt.Sprintf("p99(cpu) <= %g * period", l.TickShare)}
	if l.WallShare > 0 {
		terms = append(terms, fmt.Sprintf("p99(elapsed) <= %g * period", l.WallShare))
	}
	terms = append(terms, fmt.Sprintf("lost(input) <= %d", l.MaxInputsLost), "lost(tick) <= 0.01 * total(tick)",
		fmt.Sprintf("p99(age) <= %g * interval", l.AgeIntervals))
	return strings.Join(terms, " && ")
}

// WithObjective is l with an expression for a level. Where that bounds p99 of the tick by a part of the period, or p99 of the
// age by a number of intervals, the fields that searches and charts go by follow.
func (l Level) WithObjective(text string) (Level, error) {
	o, err := ParseObjective(text)
	if err != nil {
		return l, err
	}
	l.Expr = text
	for _, t := range o.terms {
		if err := o.finite(l, t); err != nil {
			return l, err
		}
		call, ok := t.left.(*ast.CallNode)
		if !ok || t.op != "<" && t.op != "<=" {
			continue
		}
		e := eval{level: l}
		limit := e.of(t.right)
		if e.calls > 0 || e.sized || !(limit > 0) {
			continue
		}
		switch name, of := callee(call); {
		case name == "p99" && (of == "tick" || of == "cpu"):
			l.TickShare, l.WallShare = limit/l.PeriodMillis(), limit/l.PeriodMillis()
		case name == "p99" && of == "age":
			l.AgeIntervals = limit / l.IntervalMillis()
		}
	}
	return l, nil
}

// finite refuses a side that is the same for every step and no number, such as 1/0.
func (o *Objective) finite(l Level, t term) error {
	for _, side := range []ast.Node{t.left, t.right} {
		e := eval{level: l}
		if x := e.of(side); e.calls == 0 && !e.sized && (math.IsInf(x, 0) || math.IsNaN(x)) {
			return o.wrong(side, "expected a finite number, got %s", side)
		}
	}
	return nil
}

// Check returns the terms of the level that s does not hold, each as a readable line; none means it passes. What was
// not measured (zero, or not a number) is not held: a planner that lost its evidence must not pass.
func (l Level) Check(s Step) []string {
	l = l.WithDefaults()
	if s.Fault != "" {
		return []string{s.Fault}
	}
	o, err := ParseObjective(l.Objective())
	if err != nil {
		return []string{err.Error()}
	}
	return o.Failed(l, s)
}

// Judge returns s with Pass and Failed set. A void step neither passes nor fails.
func (l Level) Judge(s Step) Step {
	s = s.Finite()
	s.Pass, s.Failed = false, nil
	if !s.Void {
		s.Failed = l.Check(s)
		s.Pass = len(s.Failed) == 0
	}
	return s
}

// TickLoad is how much of its limit the tick fills: the larger of p99 CPU and p99 elapsed, 1 at the limit.
func (l Level) TickLoad(s Step) float64 {
	return max(s.TickCPUMillis.P99/l.TickLimitMillis(), s.TickWallMillis.P99/l.WallLimitMillis())
}
