package capacity

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// nearby corrects a law by what measured neighbours differ from it: Gaussian-process regression (kriging) of the logarithm of measured by
// fitted. Far from everything that was measured it corrects nothing.
type nearby struct {
	at      [][]float64
	weights []float64
}

// Scales of a correction. How far its neighbours reach was not fitted to anything: a factor of about two in a size or a rate.
const (
	nearbySpread = 0.06 // laws are off by about so much
	nearbyNoise  = 0.01 // and measurements by so much
)

// coordinates of a scenario: one apart is a neighbour still.
func coordinates(f Facts) []float64 {
	n := float64(max(f.PerLobby, 1))
	reach := 1.5
	if f.Far > 0 {
		reach = math.Log(max(f.Side, 1) / f.Far)
	}
	return []float64{
		math.Log(n) / 0.9, math.Log(float64(f.TickHz)) / 0.6, math.Log(1/interval(f)) / 0.5, math.Log(max(f.Side, 1)/math.Sqrt(n)) / 0.7,
		ruled(f) * 2, ruled(f) * reach / 0.6, f.Bursts / 1.2, f.Crowd / 1.5, f.Throws / 2,
	}
}

func alike(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += sq(a[i] - b[i])
	}
	return sq(nearbySpread) * math.Exp(-sum/2)
}

// newNearby learns from measured and fitted values; where they cannot tell anything it corrects nothing.
func newNearby(facts []Facts, measured, fitted []float64) nearby {
	var c nearby
	var off []float64
	for i, f := range facts {
		if measured[i] > 0 && fitted[i] > 0 {
			c.at, off = append(c.at, coordinates(f)), append(off, math.Log(measured[i]/fitted[i]))
		}
	}
	if len(off) == 0 {
		return c
	}
	cov := mat.NewSymDense(len(off), nil)
	for i := range off {
		for j := i; j < len(off); j++ {
			v := alike(c.at[i], c.at[j])
			if i == j {
				v += sq(nearbyNoise)
			}
			cov.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	var w mat.VecDense
	if !chol.Factorize(cov) || chol.SolveVecTo(&w, mat.NewVecDense(len(off), off)) != nil {
		return nearby{}
	}
	c.weights = w.RawVector().Data
	return c
}

// factor is by how much a law is to be multiplied for a scenario.
func (c nearby) factor(f Facts) float64 {
	at, sum := coordinates(f), 0.0
	for i, w := range c.weights {
		sum += w * alike(at, c.at[i])
	}
	return math.Exp(sum)
}
