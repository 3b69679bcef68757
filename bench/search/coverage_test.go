package search

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/slo"
)

// The interval holds the true knee nine times of ten, on machines of many curves and sizes, within
// the time of make run; and the middle is near it.
func TestIntervalHoldsTheTruth(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 100
	}
	held, width, off := 0, 0.0, 0.0
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
		run(s, m)
		k := s.Knee()
		if k.High > 0 && float64(k.Low) <= truth && truth <= float64(k.High+1) {
			held++
		}
		width += float64(k.High-k.Low) / 2 / float64(max(k.Players, 1)) / float64(runs)
		off += math.Abs(math.Log(float64(max(k.Players, 1))/truth)) / float64(runs)
	}
	t.Logf("held %d of %d; half width %.1f %%, error %.1f %%", held, runs, 100*width, 100*off)
	if share := float64(held) / float64(runs); share < 0.85 || share > 0.98 {
		t.Errorf("the interval held the truth %d times of %d", held, runs)
	}
	if width > 0.11 || off > 0.06 {
		t.Errorf("half width %.3f, error %.3f", width, off)
	}
}
