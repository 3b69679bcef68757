package rows

// weightBits is the fraction of a term's weight.
const weightBits = 12

// maxTerms bounds what a prediction costs.
const maxTerms = 8

// term is a source and its weight in 1/2^weightBits.
type term struct {
	source
	weight int32
}

// predictor is a field's: what was held, and the sum of its terms. No terms: it holds still.
type predictor struct {
	terms []term
	pull  int32 // weight of what the nearest row was off by
}

// guess predicts field f of row r.
func (p *predictor) guess(r *row, fields []Field, f int) {
	held := r.held[0][f]
	if len(p.terms) == 0 && p.pull == 0 && fields[f].Kind != Angle {
		r.guess, r.base, r.step = held, held, 0
		return
	}
	sum := int64(0)
	for i := range p.terms {
		t := &p.terms[i]
		sum += int64(t.value(r, fields, f)) * int64(t.weight)
	}
	r.base = settle(held, sum, fields[f].mod())
	if r.guess = r.base; p.pull != 0 && r.pull[f] != 0 {
		sum += int64(r.pull[f]) * int64(p.pull)
		r.guess = settle(held, sum, fields[f].mod())
	}
	r.step = away(r.guess, held, fields[f].mod())
}

// settle adds a weighted sum to what was held.
func settle(held int32, sum int64, mod int32) int32 {
	v := held + int32((sum+1<<(weightBits-1))>>weightBits)
	if mod != 0 {
		return around(v, mod)
	}
	return v
}

// tell notes that field f of row r turned out to be v.
func (r *row) tell(fields []Field, f int, v int32) {
	r.fresh[f] = v
	if v == r.guess && r.base == v {
		r.moved[f], r.wrong[f], r.raw[f] = r.step, 0, 0
		return
	}
	mod := fields[f].mod()
	r.moved[f] = away(v, r.held[0][f], mod)
	r.wrong[f] = away(v, r.guess, mod)
	r.raw[f] = r.wrong[f]
	if r.base != r.guess {
		r.raw[f] = away(v, r.base, mod)
	}
}
