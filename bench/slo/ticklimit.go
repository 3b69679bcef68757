package slo

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// TickHelp lists what a TickLimit can name.
const TickHelp = `tick (the longer of CPU and elapsed time), cpu, elapsed, late (its start after its
schedule), period, interval, players; p50, p95, p99, p999 of tick, cpu, elapsed, late, in the ticks
before; numbers, + - * /, < <= > >= ==, && (and), || (or). Times are milliseconds: 5 and 5ms are
the same.`

// tickHints are those of a TickLimit.
var tickHints = hints{"tick > 0.9*period", "tick, cpu, elapsed, late, period, interval, players, or " +
	"p50, p95, p99, p999 of one of the first four"}

// TickFigures are what a TickLimit can name of one tick. Times are milliseconds.
type TickFigures struct {
	Tick     float64 `expr:"tick"`     // the longer of CPU and elapsed time
	CPU      float64 `expr:"cpu"`      // CPU time of the thread
	Elapsed  float64 `expr:"elapsed"`  // wall time
	Late     float64 `expr:"late"`     // its start after its schedule
	Period   float64 `expr:"period"`   // of a tick
	Interval float64 `expr:"interval"` // between two snapshots to one client
	Players  float64 `expr:"players"`
}

// tickNames are the names of the figures, and how to read each.
var tickNames = map[string]func(*TickFigures) float64{
	"tick": func(f *TickFigures) float64 { return f.Tick }, "cpu": func(f *TickFigures) float64 { return f.CPU },
	"elapsed":  func(f *TickFigures) float64 { return f.Elapsed },
	"late":     func(f *TickFigures) float64 { return f.Late },
	"period":   func(f *TickFigures) float64 { return f.Period },
	"interval": func(f *TickFigures) float64 { return f.Interval },
	"players":  func(f *TickFigures) float64 { return f.Players },
}

// tickEnv are the names that the type check knows: the figures, and functions of some of them.
type tickEnv struct {
	TickFigures
	P50  func(float64) float64 `expr:"p50"`
	P95  func(float64) float64 `expr:"p95"`
	P99  func(float64) float64 `expr:"p99"`
	P999 func(float64) float64 `expr:"p999"`
}

// TickLimit is an expression about one tick, such as tick > 0.9*period, in the language of a Level.
// It is immutable; Watch makes what a lobby evaluates it with.
type TickLimit struct {
	text        string
	all         condition[tickTerm]
	percentiles []percentileOf
}

// tickTerm is one comparison.
type tickTerm struct {
	op          string
	left, right number
}

// number is a sum, a product, a figure or a constant. A tick evaluates it without allocating.
type number struct {
	op          string // + - * /, or "" for a leaf
	left, right *number
	figure      func(*TickFigures) float64 // nil: a percentile or a constant
	percentile  int                        // in TickLimit.percentiles, from 1; 0: none
	value       float64
}

// of evaluates the number for the figures of a tick and the percentiles of the ticks before it.
func (n *number) of(f *TickFigures, before []percentile) float64 {
	switch n.op {
	case "+":
		return n.left.of(f, before) + n.right.of(f, before)
	case "-":
		return n.left.of(f, before) - n.right.of(f, before)
	case "*":
		return n.left.of(f, before) * n.right.of(f, before)
	case "/":
		return n.left.of(f, before) / n.right.of(f, before)
	}
	switch {
	case n.figure != nil:
		return n.figure(f)
	case n.percentile > 0:
		return before[n.percentile-1].value
	}
	return n.value
}

// CompileTick reads and type-checks a limit. Its errors are *Error.
func CompileTick(text string) (*TickLimit, error) {
	if len(text) > maxText {
		return nil, &Error{text, maxText, fmt.Sprintf("expected at most %d bytes", maxText)}
	}
	options := []expr.Option{expr.Env(tickEnv{}), expr.DisableAllBuiltins(), expr.MaxNodes(maxNodes),
		expr.Optimize(false), expr.AsBool()}
	blank, millis, err := plain(text)
	if err != nil {
		return nil, err
	}
	if _, err := expr.Compile(blank, options...); err != nil {
		return nil, wrong(text, err, tickHints)
	}
	tree, err := parser.Parse(blank)
	if err != nil {
		return nil, wrong(text, err, tickHints)
	}
	l := &TickLimit{text: text}
	l.all, err = joined(text, tree.Node, func(b *ast.BinaryNode) (*tickTerm, error) {
		return l.compile(b, millis)
	})
	if err != nil {
		return nil, err
	}
	if w := wordsOf(tree.Node); !w.have("tick", "cpu", "elapsed", "late", "players") {
		return nil, &Error{text, firstColumn(tree.Node),
			fmt.Sprintf("expected a figure of a tick, as in %s, got %s", tickHints.example, tree.Node)}
	}
	return l, nil
}

// String is the text of the limit.
func (l *TickLimit) String() string { return l.text }

// exceeded reports whether a condition holds for a tick. It allocates nothing.
func exceeded(c *condition[tickTerm], f *TickFigures, before []percentile) bool {
	if t := c.term; t != nil {
		return holds(t.op, t.left.of(f, before), t.right.of(f, before))
	}
	for i := range c.of {
		if exceeded(&c.of[i], f, before) == c.any {
			return c.any
		}
	}
	return !c.any
}

// compile makes a term of a comparison. millis are the columns of numbers with the unit ms.
func (l *TickLimit) compile(b *ast.BinaryNode, millis []int) (*tickTerm, error) {
	left, err := l.number(b.Left)
	if err != nil {
		return nil, err
	}
	right, err := l.number(b.Right)
	if err != nil {
		return nil, err
	}
	return &tickTerm{b.Operator, *left, *right},
		checkMillis(l.text, b, millis, []string{"tick", "cpu", "elapsed", "late", "period", "interval"})
}

// number makes a number of a part of an expression that has been type-checked.
func (l *TickLimit) number(n ast.Node) (*number, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return &number{value: float64(n.Value)}, nil
	case *ast.FloatNode:
		return l.finite(n, n.Value)
	case *ast.IdentifierNode:
		if figure := tickNames[n.Value]; figure != nil {
			return &number{figure: figure}, nil
		}
	case *ast.CallNode:
		return l.percentile(n)
	case *ast.UnaryNode:
		of, err := l.number(n.Node)
		if err != nil || n.Operator == "+" {
			return of, err
		}
		if n.Operator == "-" {
			return &number{op: "-", left: &number{}, right: of}, nil
		}
	case *ast.BinaryNode:
		if !slices.Contains([]string{"+", "-", "*", "/"}, n.Operator) {
			break
		}
		left, err := l.number(n.Left)
		if err != nil {
			return nil, err
		}
		right, err := l.number(n.Right)
		if err != nil {
			return nil, err
		}
		return &number{op: n.Operator, left: left, right: right}, nil
	}
	return nil, &Error{l.text, n.Location().From + 1, fmt.Sprintf("expected a number, got %s", n)}
}

func (l *TickLimit) finite(n ast.Node, x float64) (*number, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, &Error{l.text, n.Location().From + 1, fmt.Sprintf("expected a finite number, got %s", n)}
	}
	return &number{value: x}, nil
}
