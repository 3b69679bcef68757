package codeceval

import (
	"math"
	"slices"

	"github.com/tickrate/tickrate/bench/itr"
	"github.com/tickrate/tickrate/compress/huffman"
)

// followRows is about how many rows say what follows from what.
const followRows = 5000

// followers estimates which fields follow from others: entry [f][g] is the bits a row that a term of
// the move of field g saves in field f, as schema.Train finds terms.
func followers(train []*itr.Trace, delay int) (saved [][]float64) {
	fields := train[0].Fields
	n := len(fields)
	moves, errors := make([][]float64, n), make([][]float64, n)
	every, rows := layoutSamples/followRows, 0
	sampled(train, delay, func(t *itr.Trace, s int) {
		for e := range t.Entities {
			if rows++; rows%every != 0 {
				continue
			}
			now, v0, v1 := t.Row(s, e), t.Row(s-delay, e), t.Row(s-2*delay, e)
			for f := range now {
				moves[f] = append(moves[f], differ(&fields[f], now[f], v0[f]))
				errors[f] = append(errors[f], differ(&fields[f], v0[f], v1[f])) // trends, at first
			}
		}
	})
	for f := range errors {
		coast(moves[f], errors[f])
	}
	saved = make([][]float64, n)
	for f := range saved {
		saved[f] = make([]float64, n)
		alone := bucketBits(errors[f], nil, 0)
		for g := range saved[f] {
			if g != f && alone > 0 {
				w := slope(errors[f], moves[g])
				saved[f][g] = max(0, alone-bucketBits(errors[f], moves[g], w)) / float64(len(errors[f]))
			}
		}
	}
	return saved
}

// differ is a - b, the shorter way round for a field that wraps.
func differ(f *itr.Field, a, b int32) float64 {
	d := int64(a) - int64(b)
	if f.Kind == itr.Angle && f.Mod > 0 {
		m := int64(f.Mod)
		d = ((d+m/2)%m+m)%m - m/2
	}
	return float64(d)
}

// coast turns trends into what they leave of moves, with the best of a few weights.
func coast(moves, trends []float64) {
	least, best := math.Inf(1), 0.0
	for _, w := range []float64{0, 0.5, 1} {
		if bits := bucketBits(moves, trends, w); bits < least {
			least, best = bits, w
		}
	}
	for i, trend := range trends {
		trends[i] = math.Round(moves[i] - best*trend)
	}
}

// slope is the weight of source that leaves the least of errors, by a few rounds of fitting that
// heed large errors less and less. Numbers far beyond the usual size do not count.
func slope(errors, source []float64) (w float64) {
	sum, n := 0.0, 0.0
	for _, x := range source {
		if x != 0 {
			sum, n = sum+math.Log(math.Abs(x)), n+1
		}
	}
	reach := 16 * math.Exp(sum/max(n, 1))
	for range 5 {
		xx, xe := 1e-3, 0.0
		for i, x := range source {
			if x != 0 && math.Abs(x) <= reach {
				heed := 1 / (math.Abs(errors[i]-w*x) + 1)
				xx, xe = xx+heed*x*x, xe+heed*x*errors[i]
			}
		}
		w = xe / xx
	}
	return w
}

// bucketBits is about what errors take, less w times a source: the entropy of their buckets, and the
// extra bits.
func bucketBits(errors, source []float64, w float64) (bits float64) {
	var seen [1 + huffman.Buckets]float64
	for i, e := range errors {
		if source != nil {
			e = math.Round(e - w*source[i])
		}
		sym := 0
		if d := int32(max(min(e, math.MaxInt32), math.MinInt32)); d != 0 {
			bucket, _, extra := huffman.Bucket(d)
			sym, bits = 1+bucket, bits+float64(extra)
		}
		seen[sym]++
	}
	for _, n := range seen {
		if n > 0 {
			bits -= n * math.Log2(n/float64(len(errors)))
		}
	}
	return bits
}

// sortByFollowers orders a part: from the end, each time the field that gains most by the fields
// that are left, less what they gain by it alone. Fields that follow from none keep their order.
func sortByFollowers(group []int, saved [][]float64) {
	left := slices.Sorted(slices.Values(group))
	gain := func(f, without int) (most float64) {
		for _, g := range left {
			if g != f && g != without {
				most = max(most, saved[f][g])
			}
		}
		return most
	}
	for at := len(group) - 1; at >= 0; at-- {
		last, most := 0, math.Inf(-1)
		for i, f := range left {
			worth := gain(f, -1)
			for _, g := range left {
				if g != f {
					worth -= gain(g, -1) - gain(g, f)
				}
			}
			if worth >= most {
				last, most = i, worth
			}
		}
		group[at] = left[last]
		left = slices.Delete(left, last, last+1)
	}
}
