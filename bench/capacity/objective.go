package capacity

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Objective is a service level as an expression: comparisons joined by &&, all of which a step must hold.
//
//	p99(tick)<0.6*period && lost(input)==0 && p99(age)<2*interval && kbps(down)<512
//
// Times are in milliseconds. Names are period (of a tick), interval (between two snapshots to one client) and players;
// what is measured stands within a function, see ObjectiveHelp.
type Objective struct {
	text  string
	terms []term
}

// ObjectiveError says where an expression is wrong. Column counts characters from 1.
type ObjectiveError struct {
	Text   string
	Column int
	Want   string
}

func (e *ObjectiveError) Error() string {
	return fmt.Sprintf("service level %q, column %d: %s", short(e.Text), e.Column, e.Want)
}

func short(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}

// ObjectiveHelp lists what an expression may name.
const ObjectiveHelp = `p50, p99, p999, max, mean of tick (the longer of CPU time and elapsed), cpu, elapsed, late (a tick's begin,
from its schedule), age (of the newest snapshot), rtt; lost of input, tick, datagram; total of input, tick; kbps of down, up;
cores of server; the names period, interval, players; numbers, + - * /, < <= > >= ==, &&. Times are milliseconds.`

// Limits of an expression: it comes from a file.
const (
	maxObjective = 2000 // bytes
	maxNodes     = 500
)

// term is one comparison.
type term struct {
	op          string
	left, right ast.Node
}

// spreads are what a quantile can be taken of.
var spreads = map[string]struct {
	words string
	of    func(Step) Quantiles
}{
	"cpu":     {"tick CPU", func(s Step) Quantiles { return s.TickCPUMillis }},
	"elapsed": {"tick elapsed", func(s Step) Quantiles { return s.TickWallMillis }},
	"late":    {"tick lateness", func(s Step) Quantiles { return s.LatenessMicros.times(1e-3) }},
	"age":     {"snapshot age", func(s Step) Quantiles { return s.SnapshotAgeMillis }},
	"rtt":     {"round trip", func(s Step) Quantiles { return s.RTTMillis }},
	"tick": {"tick", func(s Step) Quantiles {
		c, w := s.TickCPUMillis, s.TickWallMillis
		return Quantiles{P50: max(c.P50, w.P50), P99: max(c.P99, w.P99), P999: max(c.P999, w.P999), Max: max(c.Max, w.Max), Mean: max(c.Mean, w.Mean)}
	}},
}

// figures are the other functions, by function and argument. ok is false where nothing was measured.
var figures = map[string]struct {
	words string
	of    func(Level, Step) (x float64, ok bool)
}{
	"lost input":    {"inputs lost", func(_ Level, s Step) (float64, bool) { return float64(s.InputsLost), s.InputsExpected > 0 }},
	"lost tick":     {"ticks given up after stalls", func(_ Level, s Step) (float64, bool) { return float64(s.TicksGivenUp), true }},
	"lost datagram": {"datagrams lost", func(_ Level, s Step) (float64, bool) { return float64(s.DatagramsLost), true }},
	"total input":   {"inputs", func(_ Level, s Step) (float64, bool) { return float64(s.InputsExpected), s.InputsExpected > 0 }},
	"total tick": {"ticks", func(l Level, s Step) (float64, bool) {
		return s.Duration.Seconds() * float64(l.WithDefaults().TickHz), true
	}},
	"kbps down":    {"kbit/s down a client", func(_ Level, s Step) (float64, bool) { return s.KbpsDownPerClient, s.KbpsDownPerClient > 0 }},
	"kbps up":      {"kbit/s up a client", func(_ Level, s Step) (float64, bool) { return s.KbpsUpPerClient, s.KbpsUpPerClient > 0 }},
	"cores server": {"cores of the server", func(_ Level, s Step) (float64, bool) { return s.ServerCores, s.ServerCores > 0 }},
}

// quantileOf takes a quantile by its name, false if there is none of that name.
func quantileOf(name string, q Quantiles) (float64, bool) {
	switch name {
	case "p50":
		return q.P50, true
	case "p99":
		return q.P99, true
	case "p999":
		return q.P999, true
	case "max":
		return q.Max, true
	case "mean":
		return q.Mean, true
	}
	return 0, false
}

// ParseObjective reads an expression. Its errors are *ObjectiveError.
func ParseObjective(text string) (*Objective, error) {
	if len(text) > maxObjective {
		return nil, &ObjectiveError{text, maxObjective, fmt.Sprintf("expected at most %d bytes", maxObjective)}
	}
	if strings.TrimSpace(text) == "" {
		return nil, &ObjectiveError{text, 1, "expected a comparison, such as p99(tick)<0.6*period"}
	}
	c := conf.CreateNew()
	expr.DisableAllBuiltins()(c)
	c.MaxNodes = maxNodes
	tree, err := parser.ParseWithConfig(text, c)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return nil, &ObjectiveError{text, at.Column + 1, "expected an expression: " + strings.Join(strings.Fields(at.Message), " ")}
		}
		return nil, &ObjectiveError{text, 1, "expected an expression: " + strings.Join(strings.Fields(err.Error()), " ")}
	}
	o := &Objective{text: text}
	return o, o.conjuncts(tree.Node)
}

func (o *Objective) wrong(n ast.Node, want string, args ...any) error {
	return &ObjectiveError{o.text, n.Location().From + 1, fmt.Sprintf(want, args...)}
}

// conjuncts takes an expression apart at its &&.
func (o *Objective) conjuncts(n ast.Node) error {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return o.wrong(n, "expected a comparison, got %s", n)
	}
	switch b.Operator {
	case "&&", "and":
		if err := o.conjuncts(b.Left); err != nil {
			return err
		}
		return o.conjuncts(b.Right)
	case "<", "<=", ">", ">=", "==":
		o.terms = append(o.terms, term{b.Operator, b.Left, b.Right})
		if err := o.number(b.Left); err != nil {
			return err
		}
		return o.number(b.Right)
	}
	return o.wrong(n, "expected a comparison (< <= > >= ==) or &&, got %s", b.Operator)
}

// number checks that n is one that can be worked out.
func (o *Objective) number(n ast.Node) error {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return nil
	case *ast.IdentifierNode:
		if n.Value == "period" || n.Value == "interval" || n.Value == "players" {
			return nil
		}
		return o.wrong(n, "expected period, interval, players, a number or a function of what is measured, got %s", n.Value)
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return o.number(n.Node)
		}
	case *ast.BinaryNode:
		if strings.Contains("+-*/", n.Operator) {
			if err := o.number(n.Left); err != nil {
				return err
			}
			return o.number(n.Right)
		}
		return o.wrong(n, "expected + - * or / within a comparison, got %s", n.Operator)
	case *ast.CallNode:
		return o.call(n)
	}
	return o.wrong(n, "expected a number, got %s", n)
}

func (o *Objective) call(n *ast.CallNode) error {
	name, of := callee(n)
	if _, known := figures[name+" "+of]; known {
		return nil
	}
	var takes []string
	if _, ok := quantileOf(name, Quantiles{}); ok {
		if _, known := spreads[of]; known {
			return nil
		}
		takes = []string{"tick", "cpu", "elapsed", "late", "age", "rtt"}
	}
	for _, f := range []string{"lost input", "lost tick", "lost datagram", "total input", "total tick", "kbps down", "kbps up", "cores server"} {
		if arg, ok := strings.CutPrefix(f, name+" "); ok {
			takes = append(takes, arg)
		}
	}
	if takes == nil {
		return o.wrong(n, "expected p50, p99, p999, max, mean, lost, total, kbps or cores, got %s", name)
	}
	return o.wrong(n, "%s: expected one of %s", name, strings.Join(takes, ", "))
}

// callee is the name of a function and of its only argument, "" where that is none.
func callee(n *ast.CallNode) (name, of string) {
	if f, ok := n.Callee.(*ast.IdentifierNode); ok {
		name = f.Value
	}
	if len(n.Arguments) == 1 {
		if a, ok := n.Arguments[0].(*ast.IdentifierNode); ok {
			of = a.Value
		}
	}
	return name, of
}

// String is the expression as it was given.
func (o *Objective) String() string { return o.text }

// Failed lists the comparisons that a step does not hold, each as a readable line. What was not measured is not held.
func (o *Objective) Failed(l Level, s Step) []string {
	var all []string
	for _, t := range o.terms {
		e := eval{level: l, step: s}
		left, right := e.of(t.left), e.of(t.right)
		switch {
		case len(e.missing) > 0:
			all = append(all, strings.Join(e.missing, " and ")+" "+e.were()+" not measured")
		case !holds(t.op, left, right):
			all = append(all, t.broken(e, left, right))
		}
	}
	return all
}

func holds(op string, a, b float64) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	return a == b
}

// broken says in words how a comparison fails: "p99 tick CPU 10.50 ms, over 10.00 ms (0.6 * period)".
func (t term) broken(e eval, left, right float64) string {
	side := map[string]string{"<": "not below", "<=": "over", ">": "not above", ">=": "under", "==": "not"}[t.op]
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	if _, alone := t.left.(*ast.CallNode); !alone {
		return fmt.Sprintf("%s is %s, %s %s", t.left, number(left), side, number(right))
	}
	var said string
	if e.millis {
		said = fmt.Sprintf("%s %.2f ms, %s %.2f ms", e.words, left, side, right)
	} else {
		said = fmt.Sprintf("%s%s %s, %s %s", number(left), e.outOf, e.words, side, number(right))
	}
	if !isNumber(t.right) {
		said += fmt.Sprintf(" (%s)", t.right)
	}
	return said
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

// eval works out one comparison.
type eval struct {
	level   Level
	step    Step
	missing []string
	words   string // of the measured thing on the left, if that is one alone
	outOf   string
	millis  bool
	calls   int
	sized   bool // the number of players is part of it
}

func (e *eval) were() string {
	if len(e.missing) > 1 || strings.HasSuffix(e.missing[0], "s") && !strings.HasSuffix(e.missing[0], "elapsed") {
		return "were"
	}
	return "was"
}

func (e *eval) of(n ast.Node) float64 {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value)
	case *ast.FloatNode:
		return n.Value
	case *ast.IdentifierNode:
		switch n.Value {
		case "period":
			return e.level.PeriodMillis()
		case "interval":
			return e.level.IntervalMillis()
		}
		e.sized = true
		return float64(e.step.Players)
	case *ast.UnaryNode:
		if n.Operator == "-" {
			return -e.of(n.Node)
		}
		return e.of(n.Node)
	case *ast.BinaryNode:
		a, b := e.of(n.Left), e.of(n.Right)
		switch n.Operator {
		case "+":
			return a + b
		case "-":
			return a - b
		case "*":
			return a * b
		}
		return a / b
	case *ast.CallNode:
		return e.call(n)
	}
	return math.NaN() // ParseObjective has refused it
}

func (e *eval) call(n *ast.CallNode) float64 {
	name, of := callee(n)
	e.calls++
	first := e.calls == 1
	if f, ok := figures[name+" "+of]; ok {
		x, measured := f.of(e.level, e.step)
		if !measured {
			e.missing = append(e.missing, strings.TrimSuffix(f.words, " lost"))
		}
		if first {
			e.words = f.words
			if name == "lost" && of == "input" {
				e.outOf = fmt.Sprintf(" of %d", e.step.InputsExpected)
			}
		}
		return x
	}
	s := spreads[of]
	x, _ := quantileOf(name, s.of(e.step))
	if !(x > 0) {
		e.missing = append(e.missing, name+" "+s.words)
	}
	if first {
		e.words, e.millis = name+" "+s.words, true
	}
	return x
}
