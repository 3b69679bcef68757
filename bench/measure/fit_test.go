package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func stepsOf(curves []Curve, sizes []int, noise float64, rng *rand.Rand) []Step {
	var steps []Step
	for _, n := range sizes {
		s := Step{Players: n}
		for _, c := range curves {
			us := c.At(n, n)
			if rng != nil {
				us *= math.Exp(noise * rng.NormFloat64())
			}
			s.StageCPUMillis = append(s.StageCPUMillis, Stage{Name: c.Name, Mean: us})
			s.TickCPUMillis.Mean += us // any unit: the same for both
		}
		steps = append(steps, s)
	}
	return steps
}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Abs(want)+1e-9
}

var ladder = []int{64, 128, 256, 410, 520, 660}

func TestFitRecoversCoefficients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Each part is worth at least some percent of the cost at one end of the sizes, or is
		// absent.
		a := rapid.SampledFrom([]float64{0, 40, 200, 500}).Draw(t, "a")
		b := rapid.SampledFrom([]float64{0, 1.5, 5, 12}).Draw(t, "b")
		c := rapid.SampledFrom([]float64{0, 0.004, 0.02}).Draw(t, "c")
		if a+b+c == 0 {
			b = 1
		}
		want := Curve{Name: "snapshot", A: a, B: b, C: c}
		cost := Fit(stepsOf([]Curve{want, {Name: "send", B: 2}}, ladder, 0, nil))
		got := cost.Stages[0]
		if got.Name != "snapshot" || !near(got.A, a, 0.001) || !near(got.B, b, 0.001) || !near(got.C, c, 0.001) {
			t.Fatalf("want %+v, fitted %+v", want, got)
		}
		if got.R2 == nil || *got.R2 < 0.999999 || len(got.Residuals) != len(ladder) {
			t.Fatalf("r2 %v, %d residuals", got.R2, len(got.Residuals))
		}
		if sum := cost.Total; !near(sum.B, b+2, 0.001) || !near(sum.A, a, 0.001) {
			t.Fatalf("total %+v", sum)
		}
	})
}

func TestFitUnderNoisePredictsAndStaysPositive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Curve{
			Name: "x", A: rapid.Float64Range(0, 500).Draw(t, "a"), B: rapid.Float64Range(0.5, 20).Draw(t,
				"b"), C: rapid.Float64Range(0, 0.05).Draw(t, "c"),
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		got := Fit(stepsOf([]Curve{want}, ladder, 0.02, rng)).Stages[0]
		if got.A < 0 || got.B < 0 || got.C < 0 || got.Parts < 1 {
			t.Fatalf("fitted %+v", got)
		}
		// Inside what was measured; 6 sigma of one point.
		for _, n := range []int{64, 100, 300, 660} {
			if !near(got.At(n, n), want.At(n, n), 0.12) {
				t.Fatalf("at %d players: %v, want %v (%+v)", n, got.At(n, n), want.At(n, n), got)
			}
		}
	})
}

// The slow twin: the best non-negative curve of three parts on a fine grid cannot beat the one Fit
// takes by more than the grid is coarse, when Fit too uses all three.
func TestFitAgainstGrid(t *testing.T) {
	want := Curve{Name: "x", A: 300, B: 5, C: 0.02}
	rng := rand.New(rand.NewPCG(3, 3))
	got := Fit(stepsOf([]Curve{want}, ladder, 0.01, rng)).Stages[0]
	if got.Parts != 3 {
		t.Fatalf("fitted %d parts", got.Parts)
	}
	best := math.Inf(1)
	for a := 200.0; a <= 400; a += 4 {
		for b := 3.0; b <= 7; b += 0.05 {
			for c := 0.015; c <= 0.025; c += 0.0002 {
				best = min(best, score(got.Residuals, Curve{A: a, B: b, C: c}, 3))
			}
		}
	}
	if s := score(got.Residuals, got, 3); s > best {
		t.Errorf("score %v, the grid found %v", s, best)
	}
}

func TestFitWithFewPoints(t *testing.T) {
	truth := []Curve{{Name: "x", A: 100, B: 5, C: 0.02}}
	cases := []struct {
		name  string
		sizes []int
		parts int // at most
	}{
		{"1 nothing", nil, 0},
		{"2 one size", []int{100}, 1},
		{"3 one size twice", []int{100, 100}, 1},
		{"4 two sizes", []int{100, 200}, 1},
		{"5 three sizes", []int{100, 200, 400}, 2},
		{"6 sizes too close to tell parts apart", []int{1000, 1001, 1002, 1003, 1004}, 1},
	}
	for _, c := range cases {
		cost := Fit(stepsOf(truth, c.sizes, 0, nil))
		if c.sizes == nil {
			if len(cost.Stages) != 0 || cost.Total.Parts != 0 || cost.Total.Residuals == nil {
				t.Errorf("%s: %+v", c.name, cost)
			}
			continue
		}
		got := cost.Stages[0]
		if got.Parts > c.parts || got.Parts == 0 {
			t.Errorf("%s: %d parts fitted, want 1 to %d", c.name, got.Parts, c.parts)
		}
		last := c.sizes[len(c.sizes)-1]
		if !near(got.At(last, last), truth[0].At(last, last), 0.25) {
			t.Errorf("%s: at %d players %v, measured %v", c.name, last, got.At(last, last),
				truth[0].At(last, last))
		}
		if len(c.sizes) == 1 && got.A != 0 {
			t.Errorf("%s: one size blamed on the empty tick: %+v", c.name, got)
		}
	}
}

func TestFitLeavesVoidStepsOut(t *testing.T) {
	steps := stepsOf([]Curve{{Name: "x", B: 5}}, ladder, 0, nil)
	liar := Step{Players: 5000, Void: true, StageCPUMillis: []Stage{{Name: "x", Mean: 1}}}
	nan := Step{Players: 700, StageCPUMillis: []Stage{{Name: "x", Mean: math.NaN()}}}
	got := Fit(append(steps, liar, nan)).Stages[0]
	if !near(got.B, 5, 1e-6) || len(got.Residuals) != len(ladder) {
		t.Errorf("fitted %+v", got)
	}
	if m := got.Marginal(100); !near(m, 5, 1e-6) {
		t.Errorf("marginal cost %v", m)
	}
}
