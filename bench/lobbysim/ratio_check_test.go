package lobbysim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The pairs have noise, most of it common to both sides, and one side in twenty has an outlier. The
// interval holds the true ratio about as often as it claims, and it is narrow enough to tell a
// difference of 2 % from none.
func TestPairedRatioHoldsTheTruth(t *testing.T) {
	const trials, pairs, truth = 80, 100, 1.02
	random := rand.New(rand.NewPCG(1, 2))
	held, wide := 0, 0.0
	for range trials {
		a, b := make([]float64, pairs), make([]float64, pairs)
		for i := range a {
			common := math.Exp(0.2 * random.NormFloat64())
			a[i] = common * (1 + 0.03*random.NormFloat64())
			b[i] = truth * common * (1 + 0.03*random.NormFloat64())
			if random.IntN(20) == 0 {
				a[i] *= 1 + random.Float64()
			}
			if random.IntN(20) == 0 {
				b[i] *= 1 + random.Float64()
			}
		}
		r := pairedRatio(a, b)
		if r.Low <= truth && truth <= r.High {
			held++
		}
		if r.Low > r.Value || r.Value > r.High {
			t.Fatalf("%+v", r)
		}
		wide += r.High - r.Low
	}
	if held < trials*88/100 || wide/trials > 0.025 {
		t.Errorf("%d of %d intervals hold the truth, %.4f wide on average", held, trials, wide/trials)
	}
}

func TestPairedRatioRefusesWhatIsNone(t *testing.T) {
	few := make([]float64, 2*trimmed-1)
	for _, c := range [][2][]float64{{nil, nil}, {few, few}, {make([]float64, 50), make([]float64, 49)}} {
		if r := pairedRatio(c[0], c[1]); r != (ratio{}) {
			t.Errorf("%+v", r)
		}
	}
	a := []float64{}
	for i := range 40 {
		a = append(a, float64(1+i))
	}
	if r := pairedRatio(a, a); r != (ratio{1, 1, 1}) {
		t.Errorf("%+v of equals", r)
	}
}
