package slo

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// condition is a comparison, or several conditions joined by && or by ||. T is a compiled comparison.
type condition[T any] struct {
	term *T   // nil: of is used
	any  bool // joined by ||
	of   []condition[T]
}

// joined makes a condition of an expression; compile is called for each of its comparisons. text is
// the whole expression, for errors.
func joined[T any](text string, n ast.Node, compile func(*ast.BinaryNode) (*T, error)) (c condition[T],
	err error) {
	b, ok := n.(*ast.BinaryNode)
	if ok && slices.Contains([]string{"<", "<=", ">", ">=", "=="}, b.Operator) {
		c.term, err = compile(b)
		return c, err
	}
	if !ok || !slices.Contains([]string{"&&", "and", "||", "or"}, b.Operator) {
		return c, &Error{text, n.Location().From + 1,
			fmt.Sprintf("expected a comparison (< <= > >= ==), or comparisons joined by && or ||, got %s", n)}
	}
	c.any = b.Operator == "||" || b.Operator == "or"
	for _, side := range []ast.Node{b.Left, b.Right} {
		one, err := joined(text, side, compile)
		if err != nil {
			return c, err
		}
		if one.term == nil && one.any == c.any {
			c.of = append(c.of, one.of...)
		} else {
			c.of = append(c.of, one)
		}
	}
	return c, nil
}

// parts are the conditions that && joins; c alone if none are.
func (c *condition[T]) parts() []condition[T] {
	if c.term != nil || c.any {
		return []condition[T]{*c}
	}
	return c.of
}

// leaves calls do with each comparison, from left to right.
func (c *condition[T]) leaves(do func(*T)) {
	if c.term != nil {
		do(c.term)
	}
	for i := range c.of {
		c.of[i].leaves(do)
	}
}

// words are the identifiers of an expression, and where its whole and decimal numbers are.
type words struct {
	names   []string
	numbers []int // columns, from 0
}

// wordsOf lists the words of an expression.
func wordsOf(n ast.Node) (w words) {
	ast.Walk(&n, &w)
	return w
}

// Visit notes a node.
func (w *words) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IdentifierNode:
		w.names = append(w.names, n.Value)
	case *ast.BuiltinNode: // mean and max, which the environment replaces
		w.names = append(w.names, n.Name)
	case *ast.IntegerNode, *ast.FloatNode:
		w.numbers = append(w.numbers, n.Location().From)
	}
}

// have reports whether one of the identifiers is among names.
func (w *words) have(names ...string) bool {
	return slices.ContainsFunc(w.names, func(n string) bool { return slices.Contains(names, n) })
}
