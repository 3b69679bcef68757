package schema

import "fmt"

// Term is one part of a field's correction: a number known by the time the field is coded, and its
// weight. What Predict says of a field is corrected by the sum of its terms, in 1/termOne:
//
//	move   how far an earlier field of the row moved from its newest baseline
//	trend  how far a field would go on as between its two newest baselines; 0 if there is but one
//
// Training finds the terms: where one field follows from another, only the first costs bits.
type Term struct {
	Field  uint8 // of a move, an earlier one
	Trend  bool
	Weight int16 // in 1/termOne
}

// MaxTerms bounds the terms of a field.
const MaxTerms = 3

const (
	termBits = 10
	termOne  = 1 << termBits
)

// Terms are those of the field. Do not change them.
func (c *Coder) Terms() []Term { return c.terms }

// Trend is how far a field goes on from v0, if before that it went from v1 to v0.
func (c *Coder) Trend(t *BaselineSpacing, v0, v1 int32) int64 {
	return share(int64(c.Delta(v0, v1)), t.ahead, t.last)
}

// Correct is a prediction corrected by the weighted sum of the field's terms, in range.
func (c *Coder) Correct(v int32, sum int64) int32 {
	return c.along(v, (sum+termOne/2)>>termBits)
}

// appendTerms writes the terms of a field: how many, and each as its field, 128 more for a trend,
// and its weight.
func appendTerms(dst []byte, terms []Term) []byte {
	dst = append(dst, byte(len(terms)))
	for _, t := range terms {
		of := t.Field
		if t.Trend {
			of |= trendBit
		}
		dst = append(dst, of, byte(t.Weight), byte(uint16(t.Weight)>>8))
	}
	return dst
}

const trendBit = 0x80

// parseTerms reads what appendTerms wrote. checkTerms judges them.
func parseTerms(src []byte) (terms []Term, rest []byte, err error) {
	if len(src) == 0 || len(src) < 1+3*int(src[0]) {
		return nil, nil, fmt.Errorf("terms cut short")
	}
	n := int(src[0])
	for src = src[1:]; n > 0; n-- {
		terms = append(terms, Term{Field: src[0] &^ trendBit, Trend: src[0]&trendBit != 0,
			Weight: int16(uint16(src[1]) | uint16(src[2])<<8)})
		src = src[3:]
	}
	return terms, src, nil
}

// checkTerms reports terms that field f of s cannot have.
func (s Schema) checkTerms(f int, terms []Term) error {
	if len(terms) > MaxTerms || s.Single && len(terms) > 0 {
		return fmt.Errorf("%d terms, want at most %d, and none in a single row", len(terms), MaxTerms)
	}
	for _, t := range terms {
		if int(t.Field) >= len(s.Fields) || !t.Trend && int(t.Field) >= f {
			return fmt.Errorf("a term of field %d, want a move of an earlier field or a trend of any", t.Field)
		}
	}
	return nil
}
