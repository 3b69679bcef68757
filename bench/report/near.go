package report

import (
	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

// Near sums up the steps within the interval of a knee, void ones left out: means with 95 % confidence
// intervals.
type Near struct {
	Steps      int              `json:"steps"`
	Held       int              `json:"held"`        // steps that held the service level
	TickMillis measure.Interval `json:"tick_p99_ms"` // p99 of ticks, the longer of CPU and elapsed time
	Cores      measure.Interval `json:"server_cores"`
	KbpsDown   measure.Interval `json:"kbps_down_per_client"`
	AgeMillis  measure.Interval `json:"age_p99_ms"` // p99 of the newest snapshot's age
}

// nearKnee sums up the steps near a knee; nil where the interval is open or has fewer than two.
func nearKnee(k search.Knee, steps []measure.Step) *Near {
	var n Near
	var tick, cores, kbps, age []float64
	for _, s := range steps {
		if s.Players < k.Low || s.Players > k.High || s.Void || s.Fault != "" {
			continue
		}
		if n.Steps++; s.Pass {
			n.Held++
		}
		tick, cores = append(tick, s.LongerTick().P99), append(cores, s.ServerCores)
		kbps, age = append(kbps, s.KbpsDownPerClient), append(age, s.SnapshotAgeMillis.P99)
	}
	if n.Steps < 2 {
		return nil
	}
	n.TickMillis, n.Cores, n.KbpsDown, n.AgeMillis = measure.IntervalOf(tick), measure.IntervalOf(cores),
		measure.IntervalOf(kbps), measure.IntervalOf(age)
	return &n
}
