package server

import (
	"testing"
	"time"
)

// TestSnapshotGapGoesUpOnlyWhenExceeded: an age that equals the estimate lowers it, a longer one
// raises it by 49 steps.
func TestSnapshotGapGoesUpOnlyWhenExceeded(t *testing.T) {
	const age = 80 * time.Millisecond
	for over, want := range map[time.Duration]time.Duration{
		-1: age - gapStep, 0: age - gapStep, 1: age + 49*gapStep,
	} {
		g := snapshotGap{age: age}
		rtt := 30 * time.Millisecond
		if g.add(time.Second+age+rtt+over, 60, 60, 61, rtt); g.age != want { // tick 60 is at 1 s
			t.Errorf("%v longer than the estimate: %v, want %v", over, g.age, want)
		}
	}
}
