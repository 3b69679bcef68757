package slo

import (
	"errors"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// slow is a tick that took 15 ms of a period of 16.
var slow = TickFigures{Tick: 15, CPU: 4, Elapsed: 15, Late: 0.5, Period: 16, Interval: 48, Players: 100}

func TestTickLimit(t *testing.T) {
	for i, c := range []struct {
		text string
		want bool
	}{
		{"tick>0.9*period", true},
		{"tick>period", false},
		{"tick > 0.9*period && players >= 100", true},
		{"tick > 0.9*period && players > 100", false},
		{"elapsed > 3*cpu", true},
		{"late >= interval/96", true},
		{"-late < 0 && +late == 1/2 && cpu - 1 == 3", true},
		{"elapsed+late <= 15", false},
		{"players/0 > 1", true}, // infinity is above each limit
		{"tick > period or late >= 0.5ms", true},
		{"tick > period || late > 0.5 ms", false},
		{"elapsed > 14 and (cpu > 5 || late > 0.4)", true},
	} {
		l, err := CompileTick(c.text)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		w := l.Watch()
		if got := w.Exceeded(&slow); got != c.want || l.String() != c.text {
			t.Errorf("%d: %s is %v, want %v", i, l, got, c.want)
		}
		if n := alloctest.In(100, func() { w.Exceeded(&slow) }); n != 0 {
			t.Errorf("%d: %s allocates %v times", i, l, n)
		}
	}
}

func TestTickLimitRefuses(t *testing.T) {
	for i, c := range []struct {
		text   string
		column int // 0: any
		want   string
	}{
		{"", 1, "got nothing"},
		{"tick", 1, "expected a comparison, as in tick > 0.9*period"},
		{"p98(tick) > 3", 1, "unknown name p98"},
		{"p99(players) > 3", 1, "expected p50, p95, p99 or p999 of tick, cpu, elapsed or late"},
		{"tick > p99(tick+1)", 8, "expected p50, p95, p99 or p999 of tick, cpu, elapsed or late"},
		{"tick > p99()", 0, "not enough arguments"},
		{"tick > p99", 0, "mismatched types"},
		{"ticks > 3", 1, "expected tick, cpu, elapsed, late, period, interval, players, or p50"},
		{"tick > 3 && not (late > 3)", 13, "expected a comparison (< <= > >= ==), or comparisons joined by"},
		{"period > 3", 1, "expected a figure of a tick, as in tick > 0.9*period"},
		{"tick > 5s", 8, "times are milliseconds: expected 5000, got 5s"},
		{"players > 5ms", 11, "expected a number without a unit"},
		{"tick > period ** 2", 15, "expected a number"},
		{"tick > (players > 3 ? 1 : 2)", 0, "expected a number"},
		{"tick > \"x\"", 0, "invalid operation"},
		{strings.Repeat("(", 3000), 2000, "at most 2000 bytes"},
		{strings.Repeat("1+", 600) + "1<tick", 0, "expected"},
	} {
		_, err := CompileTick(c.text)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || c.column > 0 &&
			wrong.Column != c.column {
			t.Errorf("%d: %v, want column %d: %s", i, err, c.column, c.want)
		}
	}
}

// A percentile is that of the ticks before, and infinite while they are too few.
func TestTickLimitByPercentile(t *testing.T) {
	l, err := CompileTick("tick > 2*p99(tick) && elapsed > p50(elapsed)")
	if err != nil {
		t.Fatal(err)
	}
	w, rare := l.Watch(), 0
	var other *TickLimit
	if other.Watch().Exceeded(&slow) {
		t.Error("no limit is exceeded")
	}
	var f TickFigures
	tick := func(millis float64) bool {
		f.Tick, f.Elapsed = millis, millis
		return w.Exceeded(&f)
	}
	for n := range 2 * percentileWindow {
		usual := 1 + float64(n%100)/100 // p99 is 1.98 ms
		if tick(usual) {
			t.Fatalf("tick %d of %v ms is above the limit", n, usual)
		}
		if n%5000 == 4999 { // too rare to move p99
			if got, want := tick(4.2), n > 1000; got != want {
				t.Fatalf("tick %d of 4.2 ms: %v, want %v", n, got, want)
			}
			rare++
		}
		if n == 500 && tick(100) {
			t.Fatal("too few ticks have a percentile")
		}
	}
	if p := w.before[0].value; p < 1.9 || p > 2.06 || rare == 0 {
		t.Errorf("p99 is %v ms, want 1.98", p)
	}
	if n := alloctest.In(3*percentileEvery, func() { tick(1) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

func FuzzCompileTick(f *testing.F) {
	f.Add("tick>0.9*period && players>3")
	f.Add("tick > p99(tick)")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := CompileTick(text); err == nil {
			l.Watch().Exceeded(&slow)
		} else if wrong := (*Error)(nil); !errors.As(err, &wrong) || wrong.Column < 1 {
			t.Fatalf("%v", err)
		}
	})
}
