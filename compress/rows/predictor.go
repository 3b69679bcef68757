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
}

// guess predicts field f of row r.
func (p *predictor) guess(r *row, fields []Field, f int) {
	held := r.held[0][f]
	sum := int64(0)
	for i := range p.terms {
		t := &p.terms[i]
		sum += int64(t.value(r, fields, f)) * int64(t.weight)
	}
	v := held + int32((sum+1<<(weightBits-1))>>weightBits)
	if mod := fields[f].mod(); mod != 0 {
		v = around(v, mod)
	}
	r.guess = v
	r.step = away(v, held, fields[f].mod())
}

// tell notes that field f of row r turned out to be v, of which the prediction missed by m.
func (r *row) tell(fields []Field, f int, v int32) {
	mod := fields[f].mod()
	r.fresh[f] = v
	r.moved[f] = away(v, r.held[0][f], mod)
	r.wrong[f] = away(v, r.guess, mod)
}
