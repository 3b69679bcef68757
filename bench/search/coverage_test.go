package search

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/slo"
)

// The interval holds the true knee nine times of ten, on machines of many curves and sizes, within
// the time of make run; and where the time is long it becomes as narrow as was asked for.
func TestIntervalHoldsTheTruth(t *testing.T) {
	const runs = 300
	held, above, width, steps, off := 0, 0, 0.0, 0, 0.0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 2))
		truth := math.Exp(math.Log(60) + rng.Float64()*math.Log(1500.0/60))
		m := newMachine(uint64(i), truth, curves(i))
		m.void = 0.1
		if i%3 == 0 { // the loss of inputs decides
			m.loses = truth * (0.7 + 0.3*rng.Float64())
			truth = m.loses
		}
		s := &Search{Objective: slo.MustCompile(slo.Level{Expr: "p99(tick) <= 10 && lost(input) == 0"}),
			Start: int(truth * math.Exp(rng.NormFloat64()*0.5)), Limit: 100 * time.Second}
		steps += len(run(s, m))
		k := s.Knee()
		if k.High > 0 && float64(k.Low) <= truth && truth <= float64(k.High+1) {
			held++
		}
		if float64(k.Low) > truth {
			above++
		}
		width += float64(k.High-k.Low) / 2 / float64(k.Players) / runs
		off += math.Abs(math.Log(float64(k.Players)/truth)) / runs
		if testing.Verbose() {
			t.Logf("%d: truth %.0f knee %d (%d to %d) %s %s", i, truth, k.Players, k.Low, k.High, k.Bound, k.Term)
		}
	}
	noise := newMachine(1, 100, curves(0))
	var logs []float64
	for range 1000 {
		logs = append(logs, math.Log(noise.p99()))
	}
	mean, sd := 0.0, 0.0
	for _, x := range logs {
		mean += x / 1000
	}
	for _, x := range logs {
		sd += (x - mean) * (x - mean) / 1000
	}
	t.Logf("noise %.3f", math.Sqrt(sd))
	t.Logf("held %d of %d, %d too high; half width %.1f %%, error %.1f %%, %.1f steps", held, runs, above, 100*width, 100*off, float64(steps)/runs)
}
