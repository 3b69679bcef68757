package snapshot

import "math/bits"

// A field with terms is corrected after its prediction, in the order of fields: the writer knows all
// values, the reader those of earlier fields. See schema.Term.

// initTerms fills corrected. Blocks packed by zstd go by column, without terms.
func (c *codec) initTerms() {
	for f := range c.coders {
		if len(c.coders[f].Terms()) > 0 && c.forms[0] != zstdBlock {
			c.corrected |= 1 << f
		}
	}
}

// correct corrects the predictions dst of group g, which h says of a row that has the values now.
// ctx are the contexts of the prediction. dst may be now.
func (c *codec) correct(h *baselineFrames, g int, dst, now []fieldBlock, ctx *contexts) {
	v0 := h.frames[0].group(g)
	for fields := c.corrected; fields != 0; fields &= fields - 1 {
		f := bits.TrailingZeros16(fields)
		var sums [GroupRows]int64
		any := false
		for _, t := range c.coders[f].Terms() {
			k, weight := int(t.Field), int64(t.Weight)
			coder, old := &c.coders[k], &v0[k]
			switch {
			case !t.Trend:
				if now[k] == *old {
					continue
				}
				for r, v := range now[k] {
					sums[r] += weight * int64(coder.Delta(v, old[r]))
				}
			case h.frames[1] == nil:
				continue
			default:
				before := &h.frames[1].group(g)[k]
				if *before == *old {
					continue
				}
				for r, v := range old {
					sums[r] += weight * coder.Trend(&h.spacing, v, before[r]) * int64(ctx[r]&1)
				}
			}
			any = true
		}
		if any {
			for r := range dst[f] {
				dst[f][r] = c.coders[f].Correct(dst[f][r], sums[r])
			}
		}
	}
}

// correctRow is correct for all fields of a row that is as predicted.
func (c *codec) correctRow(g *rowGroup, r int) {
	for fields := c.corrected; fields != 0; fields &= fields - 1 {
		c.correctField(g, bits.TrailingZeros16(fields), r)
	}
}

// correctField is correct for field f of row r, whose earlier fields are read.
func (c *codec) correctField(g *rowGroup, f, r int) {
	h, sum := g.frames, int64(0)
	v0 := h.frames[0].group(g.index)
	for _, t := range c.coders[f].Terms() {
		k := int(t.Field)
		switch old := v0[k][r&15]; {
		case !t.Trend:
			sum += int64(t.Weight) * int64(c.coders[k].Delta(g.now[k][r&15], old))
		case g.ctx[r&15]&1 != 0:
			sum += int64(t.Weight) * c.coders[k].Trend(&h.spacing, old, h.frames[1].group(g.index)[k][r&15])
		}
	}
	if sum != 0 {
		g.now[f][r&15] = c.coders[f].Correct(g.now[f][r&15], sum)
	}
}
