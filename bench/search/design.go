package search

import (
	"math"
	"math/rand/v2"
)

// Sizes of the simulation that chooses the next size.
const (
	particles = 160
	outcomes  = 16
)

// termDraws are draws from the posterior of a term.
type termDraws struct {
	all    []draw
	counts bool // a step shows only whether the term holds
}

// narrowest returns that of the sizes whose measurement is expected to narrow the knee most: to leave
// the least variance of its logarithm. This is the choice of the Psi method, by draws from the
// posteriors. The draws are the same in each call.
func (e *estimate) narrowest(sizes []int) int {
	rng := rand.New(rand.NewPCG(1, 2))
	_, _, byTerm := e.knees()
	var terms []termDraws // that may be the least
	knees := make([]float64, particles)
	for i := range knees {
		knees[i] = math.Inf(1)
	}
	for j, p := range e.terms {
		if byTerm[j] < 0.02 {
			continue
		}
		own := termDraws{p.draws(particles, rng), p.counts}
		terms = append(terms, own)
		for i, d := range own.all {
			knees[i] = min(knees[i], d.knee)
		}
	}
	scatter := make([]float64, outcomes*len(terms))
	for i := range scatter {
		scatter[i] = student4(rng)
	}
	now := variance(knees, make([]float64, particles))
	best, least := sizes[0], math.Inf(1)
	for _, size := range sizes {
		void := e.voidShare(size) // of steps, which narrow nothing
		v := void*now + (1-void)*expectedVariance(math.Log(float64(size)), terms, knees, scatter)
		if v < least {
			best, least = size, v
		}
	}
	return best
}

// voidShare is the share of the steps of about a size that are expected to be void: that of the steps
// so far of sizes within a fifth of it, with one half void added to two.
func (e *estimate) voidShare(size int) float64 {
	voids, all := 0.5, 2.0
	for _, s := range e.steps {
		if math.Abs(math.Log(float64(s.Players)/float64(size))) < 0.2 {
			if all++; s.Void {
				voids++
			}
		}
	}
	return voids / all
}

// student4 draws from Student's t with four degrees of freedom.
func student4(rng *rand.Rand) float64 {
	return rng.NormFloat64() / math.Sqrt((rng.ExpFloat64()+rng.ExpFloat64())/2)
}

// expectedVariance is the variance of the knee that is expected after a measurement of size exp(x).
func expectedVariance(x float64, terms []termDraws, knees, scatter []float64) (sum float64) {
	logs := make([]float64, len(knees))
	for k := range outcomes {
		clear(logs)
		truth := k * len(knees) / outcomes
		for j, own := range terms {
			d := own.all[truth]
			y := d.slope*(x-d.knee) + math.Hypot(d.noise, bend*(x-d.knee))*scatter[k*len(terms)+j]
			holds := y <= 0
			if own.counts {
				y = math.NaN()
			}
			for i, d := range own.all {
				scale := math.Hypot(d.noise, bend*(x-d.knee))
				logs[i] += logLikelihood(d.slope*(x-d.knee), scale, -math.Log(scale), y, holds)
			}
		}
		sum += variance(knees, logs)
	}
	return sum / outcomes
}

// variance is that of values whose weights have these logarithms.
func variance(values, logs []float64) float64 {
	var n, mean, square float64
	for i, x := range values {
		w := math.Exp(logs[i])
		n, mean, square = n+w, mean+w*x, square+w*x*x
	}
	mean /= n
	return max(square/n-mean*mean, 0)
}
