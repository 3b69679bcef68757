package snapshot

import "github.com/tickrate/tickrate/ecs/schema"

// bound is the range of a field, laid out for the loops over rows: schema.Field has a name, too, and is five times as large.
type bound struct {
	lo, hi int32 // both included
	wrap   int32 // 0: a plain number
}

// boundsOf is the ranges of a schema's fields.
func boundsOf(s schema.Schema) []bound {
	bounds := make([]bound, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		lo, hi := f.Range()
		bounds[i] = bound{lo, hi, f.Wrap}
	}
	return bounds
}

// clamp is schema.Field's Clamp.
func (b *bound) clamp(v int32) int32 {
	if b.wrap != 0 && uint32(v) >= uint32(b.wrap) {
		if v %= b.wrap; v < 0 {
			v += b.wrap
		}
	}
	return min(max(v, b.lo), b.hi)
}
