package clock

import (
	"testing"
	"time"
)

// A yardstick finds the speed of a processor whose clock says how long the work took.
func TestYardstick(t *testing.T) {
	var now time.Duration
	var took []time.Duration // of the works to come
	reads := 0
	y := NewYardstick(func() time.Duration {
		if reads++; reads%2 == 0 {
			now += took[0]
			took = took[1:]
		}
		return now
	})
	for i, c := range []struct {
		took time.Duration
		want float64
	}{
		{30, 1}, {20, 1}, {20, 1}, // the mean of the speeds before and after
		{30, 1.25}, {30, 1.5}, {20, 1.25}, {20, 1},
	} {
		now += YardstickPeriod
		took = append(took, c.took*time.Microsecond)
		if got, fresh := y.Slowdown(now); got != c.want || !fresh {
			t.Errorf("measurement %d: got %v, %v, expected %v", i, got, fresh, c.want)
		}
	}
	before := reads
	if got, fresh := y.Slowdown(now); got != 1 || fresh || reads != before {
		t.Errorf("a measurement within the period: got %v, %v", got, fresh)
	}
}

// The work is done: it takes at least as long as so many multiplications, with a real clock.
func TestYardstickWorks(t *testing.T) {
	y := NewYardstick(ThreadCPU)
	for i := range 20 {
		y.Slowdown(time.Duration(i) * YardstickPeriod)
	}
	if y.fastest < yardstickSteps/8*time.Nanosecond { // 8 steps a nanosecond are beyond any processor
		t.Errorf("%d steps took %v", yardstickSteps, y.fastest)
	}
}
