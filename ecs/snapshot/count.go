package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// count adds the symbols that a block of a group has against what is held. It walks the rows a second time so that the
// encoder itself pays nothing when nobody counts.
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
	for r, id := range g.ids {
		c.countRow(n, h, id, g.was[r], g.index, r, g.now)
	}
}

// countRow adds the symbols of a row.
func (c *codec) countRow(n *schema.Counts, h *baselineFrames, id, was netid.ID, g, r int, lanes []fieldBlock) {
	if was == 0 {
		return
	}
	var room [schema.MaxFields]fieldBlock
	var levels [schema.MaxFields]uint8
	base, depth := room[:len(lanes)], h.depth(g, r)
	c.predictRow(h, depth, g, r, base, &levels)
	sym := schema.Gone
	switch {
	case id == was:
		var buckets [schema.MaxFields]int8
		var extras [schema.MaxFields]uint32
		for f := range buckets {
			buckets[f] = -1
		}
		mask := rowMask(r, lanes, base)
		sym = schema.Update + int(mask)
		for m := mask; m != 0; m &= m - 1 {
			f := bits.TrailingZeros16(m)
			sym, extra, _ := huffman.Bucket(c.coders[f].ZigzagDelta(lanes[f][r], base[f][r]))
			buckets[f], extras[f] = int8(sym), extra
			n.Field(f, levels[f], sym)
		}
		n.Row(levels[:len(lanes)], buckets[:len(lanes)], extras[:])
	case id != 0:
		sym = schema.Replace
	}
	if depth < 2 {
		n.Masks[0][sym]++
		return
	}
	stirred := uint16(0)
	for f, level := range levels[:len(lanes)] {
		if level > schema.LevelExact {
			stirred |= 1 << f
		}
	}
	n.ContextSymbols[schema.ContextSymbol(stirred, sym)]++
}
