package slo

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/tickrate/tickrate/internal/meter"
)

// percentileOf is a percentile that a TickLimit names.
type percentileOf struct {
	figure string
	share  float64 // 0.99 for p99
}

// shares are the percentiles that a TickLimit can name.
var shares = map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// percentileFigures are the figures that have percentiles.
var percentileFigures = []string{"tick", "cpu", "elapsed", "late"}

// percentile makes a number of a call such as p99(tick).
func (l *TickLimit) percentile(n *ast.CallNode) (*number, error) {
	of := percentileOf{}
	if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
		of.share = shares[callee.Value]
	}
	if len(n.Arguments) == 1 {
		if name, ok := n.Arguments[0].(*ast.IdentifierNode); ok {
			of.figure = name.Value
		}
	}
	if of.share == 0 || !slices.Contains(percentileFigures, of.figure) {
		return nil, &Error{l.text, n.Location().From + 1,
			fmt.Sprintf("expected p50, p95, p99 or p999 of tick, cpu, elapsed or late, got %s", n)}
	}
	at := slices.Index(l.percentiles, of)
	if at < 0 {
		at = len(l.percentiles)
		l.percentiles = append(l.percentiles, of)
	}
	return &number{percentile: at + 1}, nil
}

// A percentile counts percentileWindow ticks, then begins anew; its value is brought up to date every
// percentileEvery ticks. It has a value once as many ticks as the percentile leaves out at least
// leastAbove times are counted: 1000 for p99.
const (
	percentileWindow = 1 << 16
	percentileEvery  = 64
	leastAbove       = 10
)

// percentile is a percentile of the ticks of a lobby so far.
type percentile struct {
	of     func(*TickFigures) float64
	share  float64
	counts *meter.Histogram // ns
	n      int              // counted in the window
	value  float64          // ms; infinite until enough ticks are counted
}

func newPercentile(of percentileOf) percentile {
	p := percentile{of: tickNames[of.figure], share: of.share, value: math.Inf(1),
		counts: meter.NewHistogram(int64(10*time.Second), meter.Rough)}
	p.counts.Quantile(of.share) // the first read makes memory
	return p
}

// add counts a tick.
func (p *percentile) add(f *TickFigures) {
	p.counts.Record(int64(p.of(f) * float64(time.Millisecond)))
	if p.n++; p.n%percentileEvery != 0 || float64(p.n)*(1-p.share) < leastAbove {
		return
	}
	p.value = float64(p.counts.Quantile(p.share)) / float64(time.Millisecond)
	if p.n >= percentileWindow {
		p.counts.Reset()
		p.n = 0
	}
}

// TickWatch evaluates a limit for the ticks of one lobby, and counts them for the percentiles that
// the limit names. It belongs to the goroutine of the lobby.
type TickWatch struct {
	limit  *TickLimit
	before []percentile
}

// Watch returns a watch that has counted no tick; nil of a nil limit.
func (l *TickLimit) Watch() *TickWatch {
	if l == nil {
		return nil
	}
	w := &TickWatch{limit: l}
	for _, of := range l.percentiles {
		w.before = append(w.before, newPercentile(of))
	}
	return w
}

// Exceeded reports whether the condition of the limit holds for the next tick, whose percentiles are
// those of the ticks before it. A percentile of too few ticks, of p99 fewer than 1000, is infinite. A
// nil watch is never exceeded. It allocates nothing.
func (w *TickWatch) Exceeded(f *TickFigures) bool {
	if w == nil {
		return false
	}
	holds := exceeded(&w.limit.all, f, w.before)
	for i := range w.before {
		w.before[i].add(f)
	}
	return holds
}
