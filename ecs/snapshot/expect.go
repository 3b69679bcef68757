package snapshot

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/schema"
)

// contexts say for the rows of a group which tables code them. 0: nothing is known but the newest baseline.
//
//	bit 0        something is known
//	bits 1..3    signal n of the model was stirred
//	bits 4..27   the class of each field's table, 2 bits each
type contexts [GroupRows]uint32

const (
	contextBits = 1 + schema.MaxSignals
	classBits   = 2
)

// unknown are the contexts of rows with one baseline, or none.
var unknown contexts

// context is which of the model's tables codes what happened to a row.
func context(word uint32) int { return int(word&(1<<contextBits-1)+1) >> 1 }

// class is the class of field f's table.
func class(word uint32, f int) uint32 {
	return word >> (contextBits + classBits*uint(f)&31) & (1<<classBits - 1)
}

// stirs fills calm, the context of a row of which all is calm, and for each field what each level changes in it.
func (c *codec) stirs(m *schema.Model) {
	c.calm = 1
	c.stir = make([][schema.Levels]uint32, len(c.coders))
	for f := range c.coders {
		shift := contextBits + classBits*f
		calm := uint32(c.coders[f].Class(schema.Calm))
		c.calm |= calm << shift
		for level := uint8(schema.Calm); level < schema.Levels; level++ {
			c.stir[f][level] = (uint32(c.coders[f].Class(level)) ^ calm) << shift
		}
	}
	c.inert = make([]bool, len(c.coders))
	for f := range c.coders {
		c.inert[f] = !c.coders[f].Levelled() && !slices.Contains(m.Signals(), f)
	}
	for i, f := range m.Signals() {
		for level := schema.Calm + 1; level < schema.Levels; level++ {
			c.stir[f][level] |= 2 << i
		}
	}
}

// expect fills dst with what both ends expect of group g, and ctx with the contexts of its rows. There are two baselines or
// three. Slots that are empty in the newest come to hold anything.
func (c *codec) expect(h *held, g int, dst []lane, ctx *contexts) {
	for r := range ctx {
		ctx[r] = c.calm
	}
	newest, middle := h.frames[0], h.frames[1]
	v0, v1, v2 := newest.group(g), middle.group(g), middle.group(g)
	same := newest.ids[g] == middle.ids[g]
	if oldest := h.frames[2]; oldest != nil {
		v2, same = oldest.group(g), same && newest.ids[g] == oldest.ids[g]
	}
	var levels [GroupRows]uint8
	for f := range dst {
		if c.inert[f] || v0[f] == v1[f] && v1[f] == v2[f] {
			dst[f] = v0[f]
			continue
		}
		c.coders[f].Expect(&h.times, dst[f][:], v0[f][:], v1[f][:], v2[f][:], levels[:])
		stir := &c.stir[f]
		for r := range ctx {
			ctx[r] ^= stir[levels[r]&(schema.Levels-1)]
		}
	}
	if same {
		return
	}
	var one [schema.MaxFields]uint8
	for r := range GroupRows {
		if n := h.depth(g, r); n != 0 {
			ctx[r] = c.expectRow(h, n, g, r, dst, &one)
		}
	}
}

// expectRow is expect for one row that stands in depth of the baselines, at least one, and returns its context. levels gets how
// surprising each field was.
func (c *codec) expectRow(h *held, depth, g, r int, dst []lane, levels *[schema.MaxFields]uint8) uint32 {
	v0 := h.frames[0].group(g)
	if depth < 2 {
		for f := range dst {
			dst[f][r&15] = v0[f][r&15]
			levels[f] = schema.Unknown
		}
		return 0
	}
	times := h.times
	v1 := h.frames[1].group(g)
	v2 := v1
	if depth > 2 {
		v2 = h.frames[2].group(g)
	} else {
		times = times.Two()
	}
	ctx := c.calm
	for f := range dst {
		a, b, o := v0[f][r&15], v1[f][r&15], v2[f][r&15]
		if a == b && b == o {
			dst[f][r&15], levels[f] = a, schema.Calm
			continue
		}
		c.coders[f].Expect(&times, dst[f][r:r+1], v0[f][r:r+1], v1[f][r:r+1], v2[f][r:r+1], levels[f:f+1])
		ctx ^= c.stir[f][levels[f]&(schema.Levels-1)]
	}
	return ctx
}
