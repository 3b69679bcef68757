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
			level, changed := o.Tick(took[overran], period)
			if last := i == ticks-1; changed != last || changed && level != want {
				t.Fatalf("tick %d of %d: level %v, changed %v, want %v at the end",
					i, ticks, level, changed, want)
			}
		}
	}
	climb(true, 60, HalfRate)
	for range 59 {
		o.Tick(took[true], period)
	}
	o.Tick(took[false], period) // not in a row
	for level := QuarterRate; level < NumLevels; level++ {
		climb(true, 60, level)
	}
	for range 1000 {
		if level, changed := o.Tick(took[true], period); level != SlowMotion || changed {
			t.Fatalf("above the last level: %v, %v", level, changed)
		}
	}
	for range 3000 { // what the levels save must not be what takes them off
		if level, changed := o.Tick(period*6/8, period); level != SlowMotion || changed {
			t.Fatalf("with little to spare: %v, %v", level, changed)
		}
	}
	for level := NoNewPlayers; ; level-- {
		climb(false, 600, level)
		if level == Normal {
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

// A controller that starts on a level rises from there, and falls to it again and no lower.
func TestStartAt(t *testing.T) {
	var o Controller
	const period = time.Second / 60
	o.StartAt(QuarterRate)
	for range 60 {
		o.Tick(period+1, period)
	}
	lowest := LowDetail
	for i := range 10 * recoverAfter {
		level, _ := o.Tick(period/2, period)
		if i == 0 && level != LowDetail {
			t.Fatalf("after overruns: %v", level)
		}
		lowest = min(lowest, level)
	}
	if lowest != QuarterRate {
		t.Errorf("it fell to %v", lowest)
	}
}
