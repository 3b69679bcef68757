package overload

import (
	"testing"
	"time"
)

// A lobby whose ticks are over budget for a second goes up one load level, and another for the
// next second. Ten seconds below the budget give one level back.
func TestThreat33Overload(t *testing.T) {
	var o Controller
	const period = time.Second / 60
	took := map[bool]time.Duration{true: period + 1, false: period / 2}
	climb := func(overran bool, ticks int, want Level) {
		t.Helper()
		for i := range ticks {
			rung, changed := o.Tick(took[overran], period)
			if last := i == ticks-1; changed != last || changed && rung != want {
				t.Fatalf("tick %d of %d: rung %v, changed %v, want %v at the end",
					i, ticks, rung, changed, want)
			}
		}
	}
	climb(true, 60, HalfRate)
	for range 59 {
		o.Tick(took[true], period)
	}
	o.Tick(took[false], period) // not in a row
	for rung := QuarterRate; rung < NumLevels; rung++ {
		climb(true, 60, rung)
	}
	for range 1000 {
		if rung, changed := o.Tick(took[true], period); rung != SlowMotion || changed {
			t.Fatalf("above the last rung: %v, %v", rung, changed)
		}
	}
	for range 3000 { // what the rungs save must not be what takes them off
		if rung, changed := o.Tick(period*6/8, period); rung != SlowMotion || changed {
			t.Fatalf("with little to spare: %v, %v", rung, changed)
		}
	}
	for rung := NoNewPlayers; ; rung-- {
		climb(false, 600, rung)
		if rung == Normal {
			break
		}
	}
	climb(true, 60, HalfRate) // soon after it came down: it waits twice as long
	climb(false, 1200, Normal)
	for range maxWait*recoverAfter + 2 { // and after a long peace no longer than ever
		o.Tick(took[false], period)
	}
	climb(true, 60, HalfRate)
	climb(false, 600, Normal)
}
