package capacity

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Repeats are several steps of one size, those that are not void.
type Repeats struct {
	Players    int      `json:"players"`
	Steps      int      `json:"steps"`
	Held       int      `json:"held"`        // of them held the service level
	TickMillis Interval `json:"tick_p99_ms"` // p99 of a tick's CPU time
	Cores      Interval `json:"server_cores"`
	KbpsDown   Interval `json:"kbps_down_per_client"`
	AgeMillis  Interval `json:"age_p99_ms"`
}

// Doubt says why nobody should rely on the size, "" where it held more often than not.
func (r *Repeats) Doubt() string {
	if 2*r.Held > r.Steps {
		return ""
	}
	return fmt.Sprintf("%d players held in %d of %d measurements only: plan for fewer, or measure again on a machine with nothing else to do", r.Players, r.Held, r.Steps)
}

// Interval is a mean, and how far from it the true one lies at most with a probability of 95 %, if steps differ by chance alone (Student's t).
type Interval struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"plus_minus"`
}

// IntervalOf needs two values; of one, Half is infinite.
func IntervalOf(values []float64) Interval {
	n := float64(len(values))
	mean, deviation := stat.MeanStdDev(values, nil)
	if n < 2 {
		return Interval{mean, math.Inf(1)}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	return Interval{mean, t.Quantile(0.975) * deviation / math.Sqrt(n)}
}

// RepeatsAt sums up the steps of a size; nil if fewer than two are not void.
func RepeatsAt(players int, steps []Step) *Repeats {
	r := Repeats{Players: players}
	var tick, cores, kbps, age []float64
	for _, s := range steps {
		if s.Players != players || s.Void || s.Fault != "" {
			continue
		}
		if r.Steps++; s.Pass {
			r.Held++
		}
		tick, cores = append(tick, s.TickCPUMillis.P99), append(cores, s.ServerCores)
		kbps, age = append(kbps, s.KbpsDownPerClient), append(age, s.SnapshotAgeMillis.P99)
	}
	if r.Steps < 2 {
		return nil
	}
	r.TickMillis, r.Cores, r.KbpsDown, r.AgeMillis = IntervalOf(tick), IntervalOf(cores), IntervalOf(kbps), IntervalOf(age)
	return &r
}
