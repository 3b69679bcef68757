package clock

import (
	"testing"
	"time"
)

func TestRunDelay(t *testing.T) {
	for i, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"65020017 24165606 121\n", 24165606, true},
		{"0 0 0\n", 0, true},
		{"1 2 3", 0, false},
		{"1 2\n", 0, false},
		{"1 2 3 4\n", 0, false},
		{"1 x 3\n", 0, false},
		{"1 -2 3\n", 0, false},
		{"\n", 0, false},
		{"", 0, false},
	} {
		got, ok := runDelay([]byte(c.text))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%d: %q is %d %v, want %d %v", i, c.text, got, ok, c.want, c.ok)
		}
	}
}

// The time of other threads of the process is not charged, and the result is never negative.
func TestCharged(t *testing.T) {
	for i, c := range []struct{ delay, ours, want int64 }{{0, 0, 0}, {5, 0, 5},
		{5, 3, 2}, {5, 9, 0}, {5, -4, 5}} {
		if got := otherProcesses(c.delay, c.ours); got != time.Duration(c.want) {
			t.Errorf("%d: %v of %d with %d", i, got, c.delay, c.ours)
		}
	}
}
