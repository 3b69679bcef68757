package clock

import (
	"testing"
	"time"
)

// A yardstick finds the speed of a processor whose clock says how long the work took. One reading that
// is far too short changes nothing.
func TestYardstick(t *testing.T) {
	var now, took time.Duration
	reads := 0
	y := NewYardstick(func() time.Duration {
		if reads++; reads%2 == 0 {
			now += took
		}
		return now
	})
	at := time.Duration(0)
	next := func(micros int, want float64) {
		t.Helper()
		at += YardstickPeriod
		took = time.Duration(micros) * time.Microsecond
		if got, fresh := y.Slowdown(at); got != want || !fresh {
			t.Errorf("%d µs: got %v, %v, expected %v", micros, got, fresh, want)
		}
	}
	next(30, 1) // full speed as far as is known
	for range yardstickBlock {
		next(20, 1)
	}
	next(20, 1) // full speed from here on
	next(30, 1.25)
	next(30, 1.5)
	next(10, 1.25) // an error of the clock
	for range 2 * yardstickBlock {
		next(20, 1)
	}
	before := reads
	if got, fresh := y.Slowdown(at); got != 1 || fresh || reads != before {
		t.Errorf("a measurement within the period: got %v, %v", got, fresh)
	}
}

// The work is done: it takes at least as long as its steps do on any processor.
func TestYardstickWorks(t *testing.T) {
	y := NewYardstick(ThreadCPU)
	y.Slowdown(0)
	if y.full < yardstickSteps/8*time.Nanosecond { // 8 steps a nanosecond are beyond any processor
		t.Errorf("%d steps took %v", yardstickSteps, y.full)
	}
}
