package slo

import (
	"errors"
	"strings"
	"testing"
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
		if got := l.Exceeded(&slow); got != c.want || l.String() != c.text {
			t.Errorf("%d: %s is %v, want %v", i, l, got, c.want)
		}
		if n := testing.AllocsPerRun(100, func() { l.Exceeded(&slow) }); n != 0 {
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
		{"p99(tick) > 3", 1, "unknown name p99"},
		{"ticks > 3", 1, "expected tick, cpu, elapsed, late, period, interval or players"},
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

func FuzzCompileTick(f *testing.F) {
	f.Add("tick>0.9*period && players>3")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := CompileTick(text); err == nil {
			l.Exceeded(&slow)
		} else if wrong := (*Error)(nil); !errors.As(err, &wrong) || wrong.Column < 1 {
			t.Fatalf("%v", err)
		}
	})
}
