package measure

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Ratio is how much more one side costs than the other, with the interval in which it lies with 95 % confidence. 1 is as much.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	resamples = 1000
	trimmed   = 10 // one pair in so many is left out at each end: a machine's hiccup falls on one side of it
)

// Paired is the ratio of b to a, of pairs that were measured one after the other: the trimmed mean of their ratios, and its interval
// by the bootstrap over pairs. The same pairs give the same interval. It is zero for fewer than 2*trimmed pairs, or if lengths differ.
func Paired(a, b []float64) Ratio {
	n := len(a)
	if n != len(b) || n < 2*trimmed {
		return Ratio{}
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
		means[i] = middle(draw)
	}
	slices.Sort(means)
	return Ratio{math.Exp(middle(logs)), math.Exp(means[resamples/40]), math.Exp(means[resamples-1-resamples/40])}
}

// middle is the trimmed mean. It sorts.
func middle(s []float64) (mean float64) {
	slices.Sort(s)
	s = s[len(s)/trimmed : len(s)-len(s)/trimmed]
	for _, v := range s {
		mean += v
	}
	return mean / float64(len(s))
}
