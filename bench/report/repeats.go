package report

import (
	"fmt"

	"github.com/tickrate/tickrate/bench/measure"
)

// Repeats sums up the steps of one size that are not void: means with 95 % confidence intervals.
type Repeats struct {
	Players    int              `json:"players"`
	Steps      int              `json:"steps"`
	Held       int              `json:"held"`        // steps that held the service level
	TickMillis measure.Interval `json:"tick_p99_ms"` // p99 of ticks, the longer of CPU and elapsed time
	Cores      measure.Interval `json:"server_cores"`
	KbpsDown   measure.Interval `json:"kbps_down_per_client"`
	AgeMillis  measure.Interval `json:"age_p99_ms"` // p99 of the newest snapshot's age
}

// Doubt says why the size is not to be relied on, "" where it held in every measurement.
func (r *Repeats) Doubt() string {
	if r.Held == r.Steps {
		return ""
	}
	return fmt.Sprintf("%d players held in %d of %d measurements only: plan for fewer, "+
		"or measure again on an idle machine", r.Players, r.Held, r.Steps)
}

// RepeatsAt sums up the steps of a size; nil if fewer than two of them are not void.
func RepeatsAt(players int, steps []measure.Step) *Repeats {
	r := Repeats{Players: players}
	var tick, cores, kbps, age []float64
	for _, s := range steps {
		if s.Players != players || s.Void || s.Fault != "" {
			continue
		}
		if r.Steps++; s.Pass {
			r.Held++
		}
		tick, cores = append(tick, s.LongerTick().P99), append(cores, s.ServerCores)
		kbps, age = append(kbps, s.KbpsDownPerClient), append(age, s.SnapshotAgeMillis.P99)
	}
	if r.Steps < 2 {
		return nil
	}
	r.TickMillis, r.Cores, r.KbpsDown, r.AgeMillis = measure.IntervalOf(tick), measure.IntervalOf(cores),
		measure.IntervalOf(kbps), measure.IntervalOf(age)
	return &r
}
