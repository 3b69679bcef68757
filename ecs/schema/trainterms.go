package schema

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/compress/huffman"
)

// Rows that fitting looks at: to choose a term, and to settle the weights.
const (
	screenRows = 6000
	fitRows    = 40000
)

// What a term must save to be worth its time: a share of the bits that the differences of all fields
// take, and a number of bits that is no chance.
const (
	termShare     = 0.005
	termBitsLeast = 400
)

// fitTerms finds the terms of each field: one after the other, each the one that saves most of the
// bits that the field's differences take.
func fitTerms(s Schema, rows []Row) [][]Term {
	terms := make([][]Term, len(s.Fields))
	if len(rows) == 0 {
		return terms
	}
	screen, all := termColumns(s, rows, screenRows), termColumns(s, rows, fitRows)
	total := 0.0
	for f := range s.Fields {
		total += all.bits(s, f, nil)
	}
	worth := max(termBitsLeast, termShare*total)
	for f := range s.Fields {
		least := all.bits(s, f, nil)
		for len(terms[f]) < MaxTerms {
			best := screen.nextTerm(s, f, terms[f])
			if best == nil {
				break
			}
			best = all.weights(s, f, best)
			if slices.ContainsFunc(best, func(t Term) bool { return t.Weight == 0 }) {
				break
			}
			bits := all.bits(s, f, best)
			if least-bits < worth {
				break
			}
			terms[f], least = best, bits
		}
	}
	return terms
}

// termData is rows by column: what a field's terms are fitted to, and from.
type termData struct {
	signals       [][]uint8 // by field
	errors        [][]int32
	moves, trends [][]float64
	reach         [2][]float64 // by field, of moves and of trends: larger ones are no model of the rest
}

// termColumns lays out about n of the rows.
func termColumns(s Schema, rows []Row, n int) *termData {
	d := &termData{}
	step := max(1, len(rows)/n)
	for f := range s.Fields {
		var signals []uint8
		var errors []int32
		var moves, trends []float64
		for i := 0; i < len(rows); i += step {
			r := &rows[i]
			signals, errors = append(signals, r.Signals[f]), append(errors, r.Errors[f])
			moves, trends = append(moves, float64(r.Moves[f])), append(trends, float64(r.Trends[f]))
		}
		d.signals, d.errors = append(d.signals, signals), append(d.errors, errors)
		d.moves, d.trends = append(d.moves, moves), append(d.trends, trends)
		d.reach[0], d.reach[1] = append(d.reach[0], reachOf(moves)), append(d.reach[1], reachOf(trends))
	}
	return d
}

// reachOf is 16 times the usual size of the numbers that are not 0; 0 if hardly any is.
func reachOf(column []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range column {
		if x != 0 {
			sum += float64(bits.Len64(uint64(math.Abs(x))))
			n++
		}
	}
	if n < 20 {
		return 0
	}
	return 16 * math.Exp2(sum/float64(n))
}

// column is the numbers of a term, and their reach.
func (d *termData) column(t Term) (numbers []float64, reach float64) {
	if t.Trend {
		return d.trends[t.Field], d.reach[1][t.Field]
	}
	return d.moves[t.Field], d.reach[0][t.Field]
}

// nextTerm is terms with the one more that saves most, or nil if none saves anything.
func (d *termData) nextTerm(s Schema, f int, terms []Term) (best []Term) {
	least := d.bits(s, f, terms)
	for g := range s.Fields {
		for _, trend := range []bool{false, true} {
			t := Term{Field: uint8(g), Trend: trend}
			_, reach := d.column(t)
			same := func(o Term) bool { return o.Field == t.Field && o.Trend == t.Trend }
			if !trend && g >= f || reach == 0 || slices.ContainsFunc(terms, same) {
				continue
			}
			try := d.weights(s, f, append(slices.Clone(terms), t))
			if bits := d.bits(s, f, try); bits < least {
				least, best = bits, try
			}
		}
	}
	return best
}

// fitRounds is how often weights are fitted anew, each time with less regard for rows that they are
// wrong about: so the sum of errors falls, not that of their squares.
const fitRounds = 5

// weights returns terms with the weights that leave the smallest errors of field f.
func (d *termData) weights(s Schema, f int, terms []Term) []Term {
	k := len(terms)
	var sources [MaxTerms][]float64
	var reach [MaxTerms]float64
	for i, t := range terms {
		sources[i], reach[i] = d.column(t)
	}
	var w [MaxTerms]float64
	for range fitRounds {
		var sums [MaxTerms][MaxTerms + 1]float64
		for r, e := range d.errors[f] {
			var x [MaxTerms]float64
			far, rest, any := false, float64(e), false
			for i := range k {
				x[i] = sources[i][r]
				far, any = far || math.Abs(x[i]) > reach[i], any || x[i] != 0
				rest -= float64(w[i] * x[i])
			}
			if far || !any {
				continue
			}
			heed := 1 / (math.Abs(rest) + 1)
			for i := range k {
				for j := range k {
					sums[i][j] += float64(heed * x[i] * x[j])
				}
				sums[i][k] += float64(heed * x[i] * float64(e))
			}
		}
		solve(&sums, k, &w)
	}
	out := slices.Clone(terms)
	for i := range out {
		out[i].Weight = int16(math.Round(min(max(w[i]*termOne, math.MinInt16), math.MaxInt16)))
	}
	return out
}

// solve finds the k unknowns w of k linear equations, the right side after the left.
func solve(m *[MaxTerms][MaxTerms + 1]float64, k int, w *[MaxTerms]float64) {
	for i := range k {
		m[i][i] += 1e-3 // where two sources are one, either will do
		pivot := m[i][i]
		for j := range k + 1 {
			m[i][j] /= pivot
		}
		for o := range k {
			if o == i {
				continue
			}
			factor := m[o][i]
			for j := range k + 1 {
				m[o][j] -= float64(factor * m[i][j])
			}
		}
	}
	for i := range k {
		w[i] = m[i][k]
	}
}

// bits is about what the differences of field f take, corrected by terms: the entropy of their
// buckets at each level, and the extra bits.
func (d *termData) bits(s Schema, f int, terms []Term) (total float64) {
	var seen [Signals][1 + huffman.Buckets]uint64
	var sources [MaxTerms][]float64
	for i, t := range terms {
		sources[i], _ = d.column(t)
	}
	for r, e := range d.errors[f] {
		sum := int64(0)
		for i, t := range terms {
			sum += int64(sources[i][r]) * int64(t.Weight)
		}
		sym := 0
		if e = s.Fields[f].corrected(e, sum); e != 0 {
			bucket, _, extra := huffman.Bucket(e)
			sym, total = 1+bucket, total+float64(extra)
		}
		seen[d.signals[f][r]&(Signals-1)][sym]++
	}
	for i := range seen {
		total += cost(seen[i][:])
	}
	return total
}

// corrected is the difference that is left of e once its prediction is corrected.
func (f *Field) corrected(e int32, sum int64) int32 {
	x := int64(e) - (sum+termOne/2)>>termBits
	if f.Wrap != 0 {
		wrap := int64(f.Wrap)
		if x %= wrap; x < -wrap/2 {
			x += wrap
		} else if x > (wrap-1)/2 {
			x -= wrap
		}
	}
	lo, hi := f.Range()
	span := min(int64(hi)-int64(lo), math.MaxInt32)
	return int32(min(max(x, -span), span))
}

// correction is the weighted sum of terms in a row.
func (r *Row) correction(terms []Term) (sum int64) {
	for _, t := range terms {
		x := r.Moves[t.Field]
		if t.Trend {
			x = r.Trends[t.Field]
		}
		sum += int64(x) * int64(t.Weight)
	}
	return sum
}

// corrected is the counts of a coder with terms: of rows that stay, those of the samples.
func (c *Counts) corrected(s Schema, terms [][]Term) *Counts {
	if !slices.ContainsFunc(terms, func(t []Term) bool { return len(t) > 0 }) {
		return c
	}
	out, step := NewCounts(s), uint64(c.samples.step)
	out.Empty, out.Spawns = c.Empty, c.Spawns // terms are of rows that stay
	for sym := range Update {
		out.Masks[0][sym] = c.Masks[0][sym]
	}
	for k, n := range c.ContextSymbols {
		if k&0xffff < Update {
			out.ContextSymbols[k] = n
		}
	}
	out.rest = c.rest
	for _, r := range c.samples.rows {
		mask, inexact, known := 0, uint16(0), false
		for f := range s.Fields {
			e := s.Fields[f].corrected(r.Errors[f], r.correction(terms[f]))
			r.Errors[f] = e
			if signal := r.Signals[f]; signal&(ErrorLevels-1) > LevelExact {
				inexact |= 1 << f
			}
			known = known || r.Signals[f]&(ErrorLevels-1) != LevelUnknown
			if e == 0 {
				continue
			}
			mask |= 1 << f
			sym, _, _ := huffman.Bucket(e)
			out.Fields[f][int(r.Signals[f])*(len(out.Fields[f])/Signals)+sym] += step
		}
		switch {
		case r.Rests && mask == 0: // one of out.rest
		case known:
			out.ContextSymbols[ContextSymbol(inexact, Update+mask)] += step
		default:
			out.Masks[0][Update+mask] += step
		}
		out.samples.rows = append(out.samples.rows, r)
	}
	out.samples.step = c.samples.step
	return out
}
