package slo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/tickrate/tickrate/bench/measure"
)

// Help lists what an expression can name.
const Help = `p50, p95, p99, p999, max, mean of
tick (the longer of CPU and elapsed time), cpu, elapsed, fullspeed (CPU time of
a tick, less what the machine's processor was slowed down by), late (a tick's
start after its schedule), age (of the newest snapshot), rtt; lost of input,
tick, datagram; total of input, tick; kbps of down, up; cores of server;
floors of tick, server (CPU time as a multiple of that of the datagrams alone);
the names period, interval, players; numbers, + - * /, < <= > >= ==, && (and),
|| (or), brackets. Times are milliseconds: 5 and 5ms are the same.`

// Error says where an expression is wrong. Column counts characters from 1.
type Error struct {
	Text   string
	Column int
	Want   string
}

// Error names the expression, the column and what was expected.
func (e *Error) Error() string {
	return fmt.Sprintf("service level %q, column %d: %s", short(e.Text), e.Column, e.Want)
}

// short cuts long text for an error.
func short(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}

// Limits of an expression: it comes from a file.
const (
	maxText  = 2000 // bytes
	maxNodes = 500
)

// Objective is a compiled level. It is immutable.
type Objective struct {
	level Level
	all   condition[term]
}

// term is one comparison.
type term struct {
	op                  string // < <= > >= ==
	left, right         string // the sides as text
	leftValue, rightVal *vm.Program
	constant            bool    // the right side is the same for every step
	limit               float64 // the right side, if constant
}

// Compile reads and type-checks a level's expression. Its errors are *Error.
func Compile(l Level) (*Objective, error) {
	l = l.WithDefaults()
	text := l.Expr
	if len(text) > maxText {
		return nil, &Error{text, maxText, fmt.Sprintf("expected at most %d bytes", maxText)}
	}
	blank, millis, err := plain(text)
	if err != nil {
		return nil, err
	}
	if _, err := expr.Compile(blank, append(options(), expr.AsBool())...); err != nil {
		return nil, wrong(text, err, levelHints)
	}
	tree, err := parser.Parse(blank)
	if err != nil {
		return nil, wrong(text, err, levelHints)
	}
	o := &Objective{level: l}
	o.all, err = joined(text, tree.Node, func(b *ast.BinaryNode) (*term, error) { return o.compile(b, millis) })
	if err != nil {
		return nil, err
	}
	o.bounds()
	return o, nil
}

// Default is the objective of the default level.
func Default() *Objective { return MustCompile(Level{}) }

// MustCompile panics where Compile fails: for expressions that are part of the program.
func MustCompile(l Level) *Objective {
	o, err := Compile(l)
	if err != nil {
		panic(err)
	}
	return o
}

// options are those of every compilation: the typed environment, and no builtin functions.
func options() []expr.Option {
	return []expr.Option{expr.Env(env{}), expr.DisableAllBuiltins(), expr.MaxNodes(maxNodes),
		expr.Optimize(false)}
}

// hints are what an error suggests instead.
type hints struct{ example, names string }

// levelHints are those of a Level.
var levelHints = hints{"p99(tick) < 0.6*period", "a figure of the list in tickrate plan --help"}

// wrong turns an error of package expr into one line with a column.
func wrong(text string, err error, want hints) error {
	column, message := 1, err.Error()
	if at := (*file.Error)(nil); errors.As(err, &at) {
		column, message = at.Column+1, at.Message
	}
	message = strings.Join(strings.Fields(message), " ")
	token, parsing := strings.CutPrefix(message, "unexpected token ")
	kind, quoted, _ := strings.Cut(strings.TrimSuffix(token, ")"), "(")
	switch {
	case strings.TrimSpace(text) == "":
		message = "expected comparisons joined by && or ||, got nothing"
	case token == "EOF" && parsing:
		column = utf8.RuneCountInString(text) + 1
		message = "expected a figure or number, as in " + want.example + ", got the end"
		if strings.Count(text, "(") > strings.Count(text, ")") {
			message = `expected ")", got the end`
		}
	case parsing && slices.Contains([]string{"Identifier", "Number", "String"}, kind):
		message = "expected an operator (< <= > >= == && || + - * /) before " + quoted
	case parsing:
		message = "expected a figure or number, got " + quoted
	case strings.HasPrefix(message, "expected bool"):
		message = "expected a comparison, as in " + want.example + ", got a value without one"
	case strings.HasPrefix(message, "unknown name"):
		message = "expected " + want.names + ": " + message
	default:
		message = "expected comparisons joined by && or ||: " + message
	}
	return &Error{text, column, message}
}

// The functions of a level that tell what was measured, and of them and of the other names those
// that are times.
var (
	measuredNames = []string{"p50", "p95", "p99", "p999", "max", "mean", "lost", "total", "kbps", "cores", "floors"}
	timeNames     = append(slices.Clone(measuredNames[:6]), "period", "interval")
)

// compile makes a term of a comparison. millis are the columns of numbers with the unit ms.
func (o *Objective) compile(b *ast.BinaryNode, millis []int) (*term, error) {
	t := &term{op: b.Operator, left: b.Left.String(), right: b.Right.String()}
	for _, side := range []struct {
		to **vm.Program
		n  ast.Node
	}{{to: &t.leftValue, n: b.Left}, {to: &t.rightVal, n: b.Right}} {
		program, err := expr.Compile(side.n.String(), append(options(), expr.AsFloat64())...)
		if err != nil {
			return nil, &Error{o.level.Expr, side.n.Location().From + 1,
				fmt.Sprintf("expected a number, got %s", side.n)}
		}
		*side.to = program
		x, same, err := o.always(program)
		if err != nil || same && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return nil, &Error{o.level.Expr, side.n.Location().From + 1,
				fmt.Sprintf("expected a finite number, got %s", side.n)}
		}
		t.limit, t.constant = x, same
	}
	if w := wordsOf(b); !w.have(measuredNames...) {
		return nil, &Error{o.level.Expr, firstColumn(b), fmt.Sprintf(
			"expected a measured figure, as in p99(tick) < 0.6*period, got %s", b)}
	}
	return t, checkMillis(o.level.Expr, b, millis, timeNames)
}

// firstColumn is where a comparison begins.
func firstColumn(n ast.Node) int {
	for {
		b, ok := n.(*ast.BinaryNode)
		if !ok {
			return n.Location().From + 1
		}
		n = b.Left
	}
}

// checkMillis refuses a comparison that has a number with the unit ms and names no time.
func checkMillis(text string, n ast.Node, millis []int, times []string) error {
	w := wordsOf(n)
	if w.have(times...) {
		return nil
	}
	for _, at := range w.numbers {
		if slices.Contains(millis, at) {
			return &Error{text, at + 1, fmt.Sprintf("expected a number without a unit: %s has no time", n)}
		}
	}
	return nil
}

// always evaluates a side for two steps that differ in everything: a side that is equal in both is
// a constant.
func (o *Objective) always(p *vm.Program) (x float64, same bool, err error) {
	step := func(k float64) measure.Step {
		q := measure.Quantiles{P50: k, P95: 17 * k, P99: 2 * k, P999: 3 * k, Max: 5 * k, Mean: 7 * k}
		n := uint64(11 * k)
		return measure.Step{Players: int(13 * k), Duration: measure.Span{Duration: time.Duration(k * 1e9)},
			TickCPUMillis: q, TickWallMillis: q, LatenessMillis: q, SnapshotAgeMillis: q, RTTMillis: q,
			ServerCores: k, Floor: &measure.Floor{Tick: k, Process: k}, KbpsDownPerClient: k, KbpsUpPerClient: k,
			InputsExpected: n, InputsLost: n, DatagramsLost: n, TicksSkipped: n}
	}
	a, err := value(p, newEnv(o.level, step(1)))
	if err != nil {
		return 0, false, err
	}
	b, err := value(p, newEnv(o.level, step(17)))
	return a, a == b || math.IsNaN(a) && math.IsNaN(b), err
}

// value runs a compiled number.
func value(p *vm.Program, e env) (float64, error) {
	x, err := expr.Run(p, e)
	if err != nil {
		return 0, err
	}
	return x.(float64), nil
}

// bounds finds what the terms bound p99 of the tick and of the age by.
func (o *Objective) bounds() {
	l := &o.level
	l.TickLimitMillis, l.AgeLimitMillis = math.Inf(1), math.Inf(1)
	for _, c := range o.all.parts() {
		t := c.term
		if t == nil || !t.constant || !(t.limit > 0) || t.op != "<" && t.op != "<=" {
			continue // where one of several may hold, none is a bound
		}
		switch t.left {
		case "p99(tick)", "p99(cpu)", "p99(elapsed)":
			l.TickLimitMillis = min(l.TickLimitMillis, t.limit)
		case "p99(age)":
			l.AgeLimitMillis = min(l.AgeLimitMillis, t.limit)
		}
	}
	if math.IsInf(l.TickLimitMillis, 1) {
		l.TickLimitMillis = 0.6 * l.PeriodMillis()
	}
	if math.IsInf(l.AgeLimitMillis, 1) {
		l.AgeLimitMillis = 2 * l.IntervalMillis()
	}
}

// Level is the level with its defaults and limits filled in.
func (o *Objective) Level() Level { return o.level }

// Terms are the conditions that must all hold, as text.
func (o *Objective) Terms() (all []string) {
	for _, c := range o.all.parts() {
		all = append(all, text(&c))
	}
	return all
}

// text is a condition as text; one that is part of another is in brackets.
func text(c *condition[term]) string {
	if c.term != nil {
		return c.term.text()
	}
	parts := make([]string, len(c.of))
	for i := range c.of {
		parts[i] = text(&c.of[i])
		if c.of[i].term == nil {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	if c.any {
		return strings.Join(parts, " || ")
	}
	return strings.Join(parts, " && ")
}

func (t *term) text() string { return t.left + " " + t.op + " " + t.right }

// Names reports whether a term has a figure of this name, such as "age".
func (o *Objective) Names(figure string) (found bool) {
	o.all.leaves(func(t *term) {
		found = found || strings.Contains(t.left, "("+figure+")") || strings.Contains(t.right, "("+figure+")")
	})
	return found
}

// Check lists the terms that a step misses, each as a readable line; none means that it passes. A
// term is missed, too, if a figure of it was not measured (zero, or not a number), and a step with
// a Fault misses all of them. Terms joined by || are one line, which says why none of them holds.
func (o *Objective) Check(s measure.Step) (missed []string) {
	if s.Fault != "" {
		return []string{s.Fault}
	}
	return o.missed(&o.all, s)
}

// missed lists what a step misses of a condition.
func (o *Objective) missed(c *condition[term], s measure.Step) (all []string) {
	if c.term != nil {
		if line := o.missedTerm(c.term, s); line != "" {
			all = append(all, line)
		}
		return all
	}
	for i := range c.of {
		part := o.missed(&c.of[i], s)
		if c.any && len(part) == 0 {
			return nil
		}
		all = append(all, part...)
	}
	if c.any {
		return []string{"none holds: " + strings.Join(all, "; ")}
	}
	return all
}

// missedTerm says how a step misses a term, "" where it does not.
func (o *Objective) missedTerm(t *term, s measure.Step) string {
	e := newEnv(o.level, s)
	left, err := value(t.leftValue, e)
	right, err2 := value(t.rightVal, e)
	switch err = errors.Join(err, err2); {
	case err != nil:
		return fmt.Sprintf("%s: %v", t.text(), err)
	case len(*e.missing) > 0:
		return strings.Join(*e.missing, " and ") + " was not measured"
	case !holds(t.op, left, right):
		return t.words(left, right)
	}
	return ""
}

// holds compares two numbers.
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

// words says how a term is missed: "p99(cpu) is 10.5, expected <= 10 (0.6 * period)".
func (t term) words(left, right float64) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	text := fmt.Sprintf("%s is %s, expected %s %s", t.left, number(left), t.op, number(right))
	if _, err := strconv.ParseFloat(t.right, 64); err != nil {
		text += " (" + t.right + ")"
	}
	return text
}

// Judge returns s with Pass, Failed and Cause set. A void step neither passes nor fails.
func (o *Objective) Judge(s measure.Step) measure.Step {
	s = s.Finite()
	s.Pass, s.Failed, s.Cause = false, nil, ""
	if !s.Void {
		s.Failed = o.Check(s)
		s.Pass = len(s.Failed) == 0
	}
	if len(s.Failed) > 0 {
		s.Cause = o.cause(s)
	}
	return s
}

// TickLoad is the part of its limit that p99 of the tick fills: 1 at the limit.
func (o *Objective) TickLoad(s measure.Step) float64 {
	return s.LongerTick().P99 / o.level.TickLimitMillis
}
