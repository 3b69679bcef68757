package rows

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// price is about how many bits errors cost: the entropy of their sizes, and the bits within.
func price(errors []int32) float64 {
	var count [40]float64
	total := 0.0
	for _, e := range errors {
		n := uint32(max(e, -e))
		if n == 0 {
			count[0]++
			continue
		}
		l := bits.Len32(n)
		count[l]++
		total += float64(l)
	}
	for _, c := range count {
		if c > 0 {
			total -= c * math.Log2(c/float64(len(errors)))
		}
	}
	return total / float64(len(errors))
}

// column is what a source says of each row.
func (s *sample) column(src source, f int) []int32 {
	var r row
	out := make([]int32, len(s.rows))
	for i := range s.rows {
		s.at(&r, i, 0)
		out[i] = src.value(&r, s.schema.Fields, f)
	}
	return out
}

// fit finds a predictor of field f that makes errors cheap, and what they cost.
func (s *sample) fit(f int, told []bool, known map[source][]int32) (predictor, float64) {
	fields := s.schema.Fields
	n, mod := len(fields), fields[f].mod()
	target := make([]int32, len(s.rows))
	moves := false
	for i := range target {
		target[i] = s.moved[i*n+f]
		moves = moves || target[i] != 0
	}
	best, cost := predictor{}, price(target)
	if !moves {
		return best, 0
	}
	list := sourcesOf(fields, f, told)
	columns := make([][]int32, 0, len(list))
	errors := make([]int32, len(target))
	for _, src := range list {
		col := known[src]
		if col == nil {
			col = s.column(src, f)
			switch src.op {
			// Depend on the target.
			case srcSame, srcNear, srcApart, srcCourse, srcCourseNear, srcAge:
			default:
				known[src] = col
			}
		}
		columns = append(columns, col)
		switch src.op { // what may be exactly right by itself
		case srcSame, srcNear, srcApart, srcCourse, srcCourseNear, srcAge, srcMoved, srcTrend:
			for i, t := range target {
				errors[i] = away(t, col[i], mod)
			}
			if c := price(errors); c < cost-0.002 {
				cost, best = c, predictor{terms: []term{{src, 1 << weightBits}}}
			}
		}
	}
	if cost < 0.02 || fields[f].Kind == Flag {
		return best, cost
	}
	if p, c := combine(list, columns, target, mod); c < cost-0.02 {
		return p, c
	}
	return best, cost
}

// combine adds source after source, each time the one that goes best with what is left, and fits
// the weights again.
func combine(list []source, columns [][]int32, target []int32, mod int32) (predictor, float64) {
	rest := make([]float64, len(target))
	errors := make([]int32, len(target))
	for i, t := range target {
		rest[i] = float64(t)
	}
	norms := make([]float64, len(list))
	clipped := make([][]float32, len(list))
	for j, col := range columns {
		clipped[j] = make([]float32, len(col))
		lim := clipOf(col)
		for i, v := range col {
			x := clamp(float64(v), lim)
			clipped[j][i] = float32(x)
			norms[j] += x * x
		}
	}
	left := make([]float32, len(rest))
	var best predictor
	bestCost := math.Inf(1)
	var chosen []int
	failures := 0
	for len(chosen) < maxTerms && failures < 4 {
		lim := restClip(rest)
		for i, x := range rest {
			left[i] = float32(clamp(x, lim))
		}
		pick, score := -1, 0.0
		for j, col := range clipped {
			if norms[j] == 0 || slices.Contains(chosen, j) {
				continue
			}
			dot := 0.0
			for i, x := range left {
				dot += float64(x * col[i])
			}
			if sc := dot * dot / norms[j]; sc > score {
				pick, score = j, sc
			}
		}
		if pick < 0 {
			break
		}
		chosen = append(chosen, pick)
		w := solve(columns, chosen, target)
		if w == nil {
			chosen = chosen[:len(chosen)-1]
			norms[pick] = 0
			continue
		}
		p := weighted(list, columns, chosen, w)
		p.miss(errors, columns, chosen, target, mod)
		for i, e := range errors {
			rest[i] = float64(e)
		}
		if c := price(errors); c < bestCost-0.01 {
			best, bestCost, failures = p, c, 0
		} else {
			failures++
		}
	}
	return prune(best, bestCost, list, columns, target, mod)
}

// weighted is the chosen sources with their weights, rounded as models have them.
func weighted(list []source, columns [][]int32, chosen []int, weights []float64) (p predictor) {
	for k, j := range chosen {
		q := int32(math.Round(math.Max(-64, math.Min(64, weights[k])) * (1 << weightBits)))
		p.terms = append(p.terms, term{list[j], q})
	}
	return p
}

// miss fills errors with what a predictor of the chosen columns leaves of target.
func (p *predictor) miss(errors []int32, columns [][]int32, chosen []int, target []int32, mod int32) {
	for i := range target {
		sum := int64(0)
		for k, j := range chosen {
			sum += int64(columns[j][i]) * int64(p.terms[k].weight)
		}
		errors[i] = away(target[i], int32((sum+1<<(weightBits-1))>>weightBits), mod)
	}
}

// prune takes terms away, the dearest first, that do not pay for the time they take.
func prune(p predictor, cost float64, list []source, columns [][]int32, target []int32, mod int32) (predictor, float64) {
	errors := make([]int32, len(target))
	byDearth := slices.Clone(p.terms)
	slices.SortStableFunc(byDearth, func(a, b term) int { return cmp.Compare(b.dear(), a.dear()) })
	for _, t := range byDearth {
		if len(p.terms) == 1 {
			break
		}
		var chosen []int
		for _, other := range p.terms {
			if other.source != t.source {
				chosen = append(chosen, slices.Index(list, other.source))
			}
		}
		w := solve(columns, chosen, target)
		if w == nil {
			continue
		}
		fewer := weighted(list, columns, chosen, w)
		fewer.miss(errors, columns, chosen, target, mod)
		if c := price(errors); c < cost+t.dear() {
			p, cost = fewer, c
		}
	}
	return p, cost
}

// dear is how many bits a source must save to be worth its time.
func (s source) dear() float64 {
	switch s.op {
	case srcAlong, srcAcross, srcWasAlong, srcWasAcross, srcSwing, srcSwung, srcBow, srcCourse, srcCourseNear:
		return dearTurn
	default:
		return dearPlain
	}
}

const (
	dearTurn  = 0.03
	dearPlain = 0.005
)

func clamp(x, lim float64) float64 { return max(-lim, min(lim, x)) }

// clipOf bounds outliers: ten times the mean size.
func clipOf(col []int32) float64 {
	sum := 0.0
	for _, v := range col {
		sum += math.Abs(float64(v))
	}
	return 10*sum/float64(len(col)) + 1
}

func restClip(rest []float64) float64 {
	sum := 0.0
	for _, v := range rest {
		sum += math.Min(math.Abs(v), 1000)
	}
	return 3*sum/float64(len(rest)) + 1
}

// solve finds the weights of the chosen columns that bring them near to target: least squares, then
// again with less weight for rows that lie far off, as what costs bits is nearer to the size of an
// error than to its square.
func solve(columns [][]int32, chosen []int, target []int32) []float64 {
	k := len(chosen)
	var w []float64
	for pass := range 4 {
		gram := make([]float64, k*(k+1))
		x := make([]float64, k)
		for i, t := range target {
			for a, j := range chosen {
				x[a] = float64(columns[j][i])
			}
			weight := 1.0
			if pass > 0 {
				e := float64(t)
				for a := range x {
					e -= w[a] * x[a]
				}
				weight = 1 / (1 + math.Abs(e))
			} else if t > 2000 || t < -2000 {
				weight = 1e-3
			}
			for a := range k {
				for b := range k {
					gram[a*(k+1)+b] += weight * x[a] * x[b]
				}
				gram[a*(k+1)+k] += weight * x[a] * float64(t)
			}
		}
		for a := range k {
			gram[a*(k+1)+a] *= 1 + 1e-6
			gram[a*(k+1)+a] += 1e-6
		}
		if w = gauss(gram, k); w == nil {
			return nil
		}
	}
	return w
}

// gauss solves k equations, each k coefficients and the right side.
func gauss(m []float64, k int) []float64 {
	n := k + 1
	for c := range k {
		p := c
		for r := c + 1; r < k; r++ {
			if math.Abs(m[r*n+c]) > math.Abs(m[p*n+c]) {
				p = r
			}
		}
		if math.Abs(m[p*n+c]) < 1e-9 {
			return nil
		}
		for j := range n {
			m[c*n+j], m[p*n+j] = m[p*n+j], m[c*n+j]
		}
		for r := range k {
			if r == c {
				continue
			}
			q := m[r*n+c] / m[c*n+c]
			for j := c; j < n; j++ {
				m[r*n+j] -= q * m[c*n+j]
			}
		}
	}
	w := make([]float64, k)
	for c := range k {
		w[c] = m[c*n+k] / m[c*n+c]
	}
	return w
}
