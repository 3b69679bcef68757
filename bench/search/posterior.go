package search

import (
	"math"
	"math/rand/v2"

	"github.com/tickrate/tickrate/bench/slo"
)

// A term of a service level is modelled as psychometrics models a threshold. Near its knee the
// logarithm of the load, which is the judged figure as a part of its limit, is a line over the
// logarithm of the size:
//
//	log(load) = slope * (log(size) - log(knee)) + scatter
//
// The slope is positive, and the scatter has the heavy tails of Student's t with four degrees of
// freedom, because machines have slow spells. Its scale is hypot(noise, bend*log(size/knee)): far
// from the knee the curve bends, as where an overloaded server sends less, and a step there says
// little. A term that counts events shows only on which side of 1 its load was. So the knee is the
// size at which a step holds with probability 1/2. Slope and noise are unknown, too.
//
// A posterior is the probability of each knee, slope and noise of a grid, given the steps so far.
type posterior struct {
	term string
	grid *grid
	logs []float64 // log of the probability of a cell, not normalized: [knee][noise][slope]
	part []float64 // probability of each cell
	// The last step showed only whether the term holds.
	counts bool
}

// grid has the values of the parameters.
type grid struct {
	knees []float64 // logarithms of sizes, kneeStep apart
}

const (
	kneeStep = 0.02
	bend     = 0.25
)

// Slopes and noises of the grid, and the logarithms of what is expected of them beforehand: a tick
// grows with the first to the second power of the players, and its p99 scatters by a tenth.
var (
	slopes   = []float64{0.1, 0.3, 0.6, 1, 1.5, 2.2, 3.3, 5}
	noises   = []float64{0.03, 0.05, 0.08, 0.13, 0.2, 0.35}
	logSlope = normalLogs(slopes, 1.3, 0.9)
	logNoise = normalLogs(noises, 0.1, 0.7)
)

// normalLogs are the logarithms of a normal density over log(x), not normalized.
func normalLogs(x []float64, middle, deviation float64) (logs []float64) {
	for _, x := range x {
		z := math.Log(x/middle) / deviation
		logs = append(logs, -z*z/2)
	}
	return logs
}

// newGrid returns a grid of knees from low to high, in players.
func newGrid(low, high float64) *grid {
	g := &grid{}
	for x := math.Log(low); x <= math.Log(high); x += kneeStep {
		g.knees = append(g.knees, x)
	}
	return g
}

// cells is the number of slopes and noises to one knee.
var cells = len(slopes) * len(noises)

// newPosterior returns what is known of a term without a step: the knees are equally likely.
func newPosterior(term string, g *grid) *posterior {
	p := &posterior{term: term, grid: g, logs: make([]float64, 0, len(g.knees)*cells)}
	for range g.knees {
		for _, noise := range logNoise {
			for _, slope := range logSlope {
				p.logs = append(p.logs, noise+slope)
			}
		}
	}
	p.part = make([]float64, len(p.logs))
	p.normalize(0)
	return p
}

// add takes a step of a size into account.
func (p *posterior) add(size float64, m slo.Margin) {
	x, y := math.Log(size), math.Log(m.Load)
	p.counts = math.IsNaN(y)
	most, at := math.Inf(-1), 0
	for _, knee := range p.grid.knees {
		d := x - knee
		for _, noise := range noises {
			scale := math.Hypot(noise, bend*d)
			base := -math.Log(scale)
			for _, slope := range slopes {
				p.logs[at] += logLikelihood(slope*d, scale, base, y, m.Holds)
				most = max(most, p.logs[at])
				at++
			}
		}
	}
	p.normalize(most)
}

// normalize sets the probabilities of the cells, of whose logarithms most is the largest.
func (p *posterior) normalize(most float64) {
	sum := 0.0
	for i := range p.logs {
		p.logs[i] -= most
		p.part[i] = 0
		if p.logs[i] > -30 {
			p.part[i] = math.Exp(p.logs[i])
			sum += p.part[i]
		}
	}
	for i := range p.part {
		p.part[i] /= sum
	}
}

// logLikelihood is the logarithm of the probability of a load's logarithm y where expected is its
// middle; of a load that holds or not where y is not a number. base is -log(scale).
func logLikelihood(expected, scale, base, y float64, holds bool) float64 {
	if z := (y - expected) / scale; z == z {
		return base - 2.5*math.Log1p(z*z/4)
	}
	z := -expected / scale // at the limit
	if !holds {
		z = -z
	}
	w := 1 + z*z/4
	return math.Log(max(0.5+0.375*z/math.Sqrt(w)*(1-z*z/(12*w)), 1e-12)) // distribution of t, 4 degrees
}

// above is, for each knee of the grid, the probability that the knee lies above it.
func (p *posterior) above() []float64 {
	all, rest := make([]float64, len(p.grid.knees)), 1.0
	for i, w := range p.part {
		rest -= w
		all[i/cells] = max(rest, 0)
	}
	return all
}

// draw is one draw of the parameters from a posterior.
type draw struct{ knee, slope, noise float64 }

// draws are n draws from the posterior, in random order: one of each n-th part of the probability.
func (p *posterior) draws(n int, rng *rand.Rand) []draw {
	all, sum, next := make([]draw, 0, n), 0.0, 0.5/float64(n)
	for i, w := range p.part {
		for sum += w; sum > next && len(all) < n; next += 1 / float64(n) {
			all = append(all, draw{p.grid.knees[i/cells] + kneeStep*(rng.Float64()-0.5),
				slopes[i%len(slopes)], noises[i%cells/len(slopes)]})
		}
	}
	for len(all) < n { // rounding
		all = append(all, all[len(all)-1])
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// quantile is the size below which the knee lies with probability q, given above.
func (g *grid) quantile(above []float64, q float64) float64 {
	before := 1.0
	for i, a := range above {
		if a <= 1-q {
			part := (before - (1 - q)) / max(before-a, 1e-300)
			return math.Exp(g.knees[i] + kneeStep*(part-0.5))
		}
		before = a
	}
	return math.Exp(g.knees[len(g.knees)-1])
}
