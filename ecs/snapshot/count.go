package snapshot

import (
	"math"
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
	rest := c.countRest(n, h, g)
	for r := range g.ids {
		if g.was != &empty && g.was[r] == 0 {
			n.Empty[bit(g.ids[r] != 0)]++
		}
		c.countRow(n, h, g, r, rest)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countRest counts the halves of a group with rows at rest, and returns the rows of those that stay
// so.
func (c *codec) countRest(n *schema.Counts, h *baselineFrames, g *rowGroup) (still uint16) {
	var room [schema.MaxFields]fieldBlock
	base := room[:len(g.now)]
	rest, changed := uint16(0), uint16(0)
	for r, id := range g.ids {
		var signals [schema.MaxFields]uint8
		_, depth := c.predictRow(h, g.index*GroupRows+r, base, &signals)
		exact := depth > 1
		for _, signal := range signals[:len(g.now)] {
			exact = exact && signal == schema.LevelExact
		}
		if exact {
			rest |= 1 << r
		}
		if id != g.was[r] || depth > 0 && rowMask(r, g.now, base) != 0 {
			changed |= 1 << r
		}
	}
	for _, rows := range halves(rest) {
		switch k := bits.OnesCount16(rows); {
		case k < schema.MinRest:
		case rows&changed == 0:
			n.HalfStayed(k)
			still |= rows
		default:
			n.HalfChanged()
		}
	}
	return still
}

// countRow adds the symbols of a row. still is the rows of countRest.
func (c *codec) countRow(n *schema.Counts, h *baselineFrames, g *rowGroup, r int, still uint16) {
	id, was, values := g.ids[r], g.was[r], g.now
	if id != 0 && id != was {
		c.countSpawn(n.Spawns, values, r)
	}
	if was == 0 {
		return
	}
	var room [schema.MaxFields]fieldBlock
	var signals [schema.MaxFields]uint8
	base := room[:len(values)]
	_, depth := c.predictRow(h, g.index*GroupRows+r, base, &signals)
	sym := schema.Gone
	switch {
	case id == was:
		row := schema.Row{Signals: signals, Rests: still>>r&1 != 0}
		mask := rowMask(r, values, base)
		sym = schema.Update + int(mask)
		v0 := h.frames[0].group(g.index)
		for f := range values {
			row.Errors[f] = c.coders[f].Delta(values[f][r], base[f][r])
			row.Moves[f] = c.coders[f].Delta(values[f][r], v0[f][r])
			if depth > 1 {
				v1 := h.frames[1].group(g.index)
				trend := c.coders[f].Trend(&h.spacing, v0[f][r], v1[f][r])
				row.Trends[f] = int32(min(max(trend, math.MinInt32), math.MaxInt32))
			}
			if mask>>f&1 != 0 {
				bucket, _, _ := huffman.Bucket(row.Errors[f])
				n.Field(f, signals[f], bucket)
			}
		}
		n.Row(&row)
	case id != 0:
		sym = schema.Replace
	}
	if depth < 2 {
		n.Masks[0][sym]++
		return
	}
	if still>>r&1 != 0 {
		return
	}
	inexact := uint16(0)
	for f, signal := range signals[:len(values)] {
		if signal&(schema.ErrorLevels-1) > schema.LevelExact {
			inexact |= 1 << f
		}
	}
	n.ContextSymbols[schema.ContextSymbol(inexact, sym)]++
}
