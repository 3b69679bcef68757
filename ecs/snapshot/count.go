package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
)

// count adds the symbols of a group's block to n. It walks the rows a second time, so that the
// encoder pays nothing while nobody counts.
func (c *codec) count(n *schema.Counts, h *baselineFrames, g *rowGroup) {
	var masks [GroupRows]uint16
	if g.was != &empty {
		compare(&masks, g.now, g.base)
	}
	changed := *g.ids != *g.was
	for r, id := range g.ids {
		changed = changed || id != 0 && masks[r] != 0
	}
	if !changed {
		return // an idle block has no symbols
	}
	for r := range g.ids {
		c.countRow(n, h, g, r)
	}
}

// countRow adds the symbols of a row.
func (c *codec) countRow(n *schema.Counts, h *baselineFrames, g *rowGroup, r int) {
	id, was, values := g.ids[r], g.was[r], g.now
	if was == 0 {
		return
	}
	var room [schema.MaxFields]fieldBlock
	var levels [schema.MaxFields]uint8
	base := room[:len(values)]
	_, depth := c.predictRow(h, g.index*GroupRows+r, base, &levels)
	sym := schema.Gone
	switch {
	case id == was:
		var buckets [schema.MaxFields]int8
		var extras [schema.MaxFields]uint32
		for f := range buckets {
			buckets[f] = -1
		}
		mask := rowMask(r, values, base)
		sym = schema.Update + int(mask)
		for m := mask; m != 0; m &= m - 1 {
			f := bits.TrailingZeros16(m)
			sym, extra, _ := huffman.Bucket(c.coders[f].ZigzagDelta(values[f][r], base[f][r]))
			buckets[f], extras[f] = int8(sym), extra
			n.Field(f, levels[f], sym)
		}
		n.Row(levels[:len(values)], buckets[:len(values)], extras[:])
	case id != 0:
		sym = schema.Replace
	}
	if depth < 2 {
		n.Masks[0][sym]++
		return
	}
	inexact := uint16(0)
	for f, level := range levels[:len(values)] {
		if level > schema.LevelExact {
			inexact |= 1 << f
		}
	}
	n.ContextSymbols[schema.ContextSymbol(inexact, sym)]++
}
