package slo

import (
	"math"
	"testing"
)

// TestPercentileWaitsForItsTicks: p99 has a value from the first multiple of 64 ticks on that has 10
// above it, and a new one each 64 ticks.
func TestPercentileWaitsForItsTicks(t *testing.T) {
	for share, first := range map[float64]int{0.5: 64, 0.95: 256, 1 - 1./64: 640, 0.99: 1024} {
		p := newPercentile(percentileOf{"tick", share})
		changed := []int{}
		for n := 1; n <= first+130; n++ {
			was := p.value
			f := TickFigures{Tick: 1}
			if n > first {
				f.Tick = 1000 // many of them: each new value is another
			}
			p.add(&f)
			if math.IsInf(p.value, 1) != (n < first) {
				t.Fatalf("p%g after %d ticks: %g", 100*share, n, p.value)
			}
			if p.value != was {
				changed = append(changed, n)
			}
		}
		if changed[0] != first || share == 0.99 && (len(changed) != 2 || changed[1] != first+64) {
			t.Errorf("p%g changed after %v ticks, want %d first and then each 64", 100*share, changed, first)
		}
	}
}
