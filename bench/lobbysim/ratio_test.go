package lobbysim

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ratio is the cost of one side divided by that of the other, with its 95 % confidence interval.
type ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	resamples = 1000
	// One pair in trimmed is left out at each end: a disturbance falls on one side of a pair.
	trimmed = 10
)

// pairedRatio is the ratio of b to a over pairs that were measured one after the other: the trimmed
// mean of their ratios, with an interval by bootstrap over pairs. The same pairs give the same
// interval. It is zero for fewer than 2*trimmed pairs, or if lengths differ.
func pairedRatio(a, b []float64) ratio {
	n := len(a)
	if n != len(b) || n < 2*trimmed {
		return ratio{}
	}
	logs := make([]float64, n)
	for i := range a {
		logs[i] = math.Log(b[i] / a[i])
	}
	draw, random := make([]float64, n), rand.New(rand.NewPCG(8, uint64(n)))
	means := make([]float64, resamples)
	for i := range means {
		for k := range draw {
			draw[k] = logs[random.IntN(n)]
		}
		means[i] = trimmedMean(draw)
	}
	slices.Sort(means)
	return ratio{math.Exp(trimmedMean(logs)), math.Exp(means[resamples/40]),
		math.Exp(means[resamples-1-resamples/40])}
}

// trimmedMean is the trimmed mean. It sorts s.
func trimmedMean(s []float64) (mean float64) {
	slices.Sort(s)
	s = s[len(s)/trimmed : len(s)-len(s)/trimmed]
	for _, v := range s {
		mean += v
	}
	return mean / float64(len(s))
}
