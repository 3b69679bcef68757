package capacity

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// nearby corrects a law by what measured neighbours differ from it: Gaussian-process regression (kriging) of the logarithm of measured by
// fitted. Far from everything that was measured it corrects nothing, and between neighbours that are as unsure as what they say, little.
type nearby struct {
	place   func(Facts) []float64
	spread  float64 // that laws are off by
	at      [][]float64
	weights []float64
	chol    *mat.Cholesky // of how alike they are
}

// offset is one point of it: what was measured differs from what a law says by a factor of exp(by), and is itself unsure by noise.
type offset struct {
	of        Facts
	by, noise float64
}

// Scales of a correction. How far its neighbours reach was not fitted to anything: a factor of about two in a size or a rate.
const (
	nearbySpread = 0.03  // laws of cost are off by about so much
	bytesSpread  = 0.015 // those of bytes by so much
	nearbyNoise  = 0.01  // and measurements by so much
	bytesNoise   = 0.6   // and those of bytes by as much again for each that matches leave them unsure, what players did taken as it was
)

// coordinates of a scenario: one apart is a neighbour still.
func coordinates(f Facts) []float64 {
	n := float64(max(f.PerLobby, 1))
	return append(ground(f), math.Log(1/interval(f))/0.5, math.Log(1+float64(f.Spectators)/n), f.Delay/0.05, f.Loss/0.05, f.Leaves/4, indicator(f.LongRun))
}

// ground is where a scenario is as far as its players care: how many they are, where, at which rate they act, how they fight, what they see.
func ground(f Facts) []float64 {
	n := float64(max(f.PerLobby, 1))
	reach := 1.5
	if f.reached() {
		reach = math.Log(max(f.Side, 1) / f.Far)
	}
	return []float64{
		math.Log(n) / 0.9, math.Log(float64(f.TickHz)) / 0.6, math.Log(max(f.Side, 1)/math.Sqrt(n)) / 0.7,
		ruled(f) * 2, ruled(f) * reach / 0.6, indicator(f.Walls) * 2, f.Bursts / 1.2, f.Crowd / 1.5, f.Throws / 2,
	}
}

func (c *nearby) alike(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += sq(a[i] - b[i])
	}
	return sq(c.spread) * math.Exp(-sum/2)
}

// newNearby learns from offsets; where they cannot tell anything it corrects nothing.
func newNearby(place func(Facts) []float64, spread float64, all []offset) nearby {
	c := nearby{place: place, spread: spread}
	off := make([]float64, len(all))
	for i, o := range all {
		c.at, off[i] = append(c.at, place(o.of)), o.by
	}
	if len(off) == 0 {
		return c
	}
	cov := mat.NewSymDense(len(off), nil)
	for i := range off {
		for j := i; j < len(off); j++ {
			v := c.alike(c.at[i], c.at[j])
			if i == j {
				v += sq(max(all[i].noise, nearbyNoise/4))
			}
			cov.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	var w mat.VecDense
	if !chol.Factorize(cov) || chol.SolveVecTo(&w, mat.NewVecDense(len(off), off)) != nil {
		return nearby{place: place, spread: spread}
	}
	c.weights, c.chol = w.RawVector().Data, &chol
	return c
}

// unsure is the standard error of off, as far as neighbours tell.
func (c *nearby) unsure(f Facts) float64 {
	if len(c.weights) == 0 {
		return c.spread
	}
	at, k := c.place(f), mat.NewVecDense(len(c.at), nil)
	for i := range c.at {
		k.SetVec(i, c.alike(at, c.at[i]))
	}
	var x mat.VecDense
	if c.chol.SolveVecTo(&x, k) != nil {
		return c.spread
	}
	return math.Sqrt(max(0, sq(c.spread)-mat.Dot(k, &x)))
}

// factor is by how much a law is to be multiplied for a scenario.
func (c *nearby) factor(f Facts) float64 { return math.Exp(c.off(f)) }

// off is the logarithm of that.
func (c *nearby) off(f Facts) (sum float64) {
	if len(c.weights) == 0 {
		return 0
	}
	at := c.place(f)
	for i, w := range c.weights {
		sum += w * c.alike(at, c.at[i])
	}
	return sum
}
