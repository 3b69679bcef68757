package slo

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

// A margin says how much of its limit a figure fills; a count, or a figure that was not measured,
// says only whether the term holds.
func TestMargins(t *testing.T) {
	unknown := math.NaN()
	for i, c := range []struct {
		expr  string
		spoil func(*measure.Step)
		load  float64
		holds bool
	}{
		{"p99(tick) <= 10", func(*measure.Step) {}, 0.5, true},
		{"p99(cpu) <= 10", func(s *measure.Step) { s.TickCPUMillis.P99 = 15 }, 1.5, false},
		{"10 > p99(cpu)", func(*measure.Step) {}, 0.4, true},
		{"p99(cpu) <= 10 || p99(elapsed) <= 20", func(*measure.Step) {}, 0.25, true},
		{"(p99(cpu) <= 2 && p99(elapsed) <= 20) || p99(age) < 35", func(*measure.Step) {}, 2, false},
		{"lost(input) == 0", func(*measure.Step) {}, unknown, true},
		{"lost(input) == 0", func(s *measure.Step) { s.InputsLost = 1 }, unknown, false},
		{"lost(input) <= 0.01*total(input)", func(s *measure.Step) { s.InputsLost = 1 }, unknown, true},
		{"p99(fullspeed) <= 10", func(*measure.Step) {}, unknown, false},
		{"p99(tick) <= 10", func(s *measure.Step) { s.Fault = "it died" }, unknown, false},
	} {
		s := healthy(100)
		c.spoil(&s)
		got := MustCompile(Level{Expr: c.expr}).Margins(s)
		if len(got) != 1 || got[0].Holds != c.holds ||
			math.Abs(got[0].Load-c.load) > 1e-9 || math.IsNaN(got[0].Load) != math.IsNaN(c.load) {
			t.Errorf("%d: %+v, want %v, %v", i, got, c.load, c.holds)
		}
	}
	o := Default()
	for i, m := range o.Margins(healthy(100)) {
		if m.Term != o.Terms()[i] {
			t.Errorf("margin %d is of %q, want %q", i, m.Term, o.Terms()[i])
		}
	}
}
