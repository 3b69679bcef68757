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
	contextBits = 1 + schema.MaxContextFields
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

// initContexts fills calm, the context of a row of which all is calm, and for each field what each level changes in it.
func (c *codec) initContexts(m *schema.Model) {
	c.exactContext = 1
	c.levelBits = make([][schema.ErrorLevels]uint32, len(c.coders))
	for f := range c.coders {
		shift := contextBits + classBits*f
		calm := uint32(c.coders[f].Class(schema.LevelExact))
		c.exactContext |= calm << shift
		for level := uint8(schema.LevelExact); level < schema.ErrorLevels; level++ {
			c.levelBits[f][level] = (uint32(c.coders[f].Class(level)) ^ calm) << shift
		}
	}
	c.constant = make([]bool, len(c.coders))
	for f := range c.coders {
		c.constant[f] = !c.coders[f].UsesLevel() && !slices.Contains(m.ContextFields(), f)
	}
	for i, f := range m.ContextFields() {
		for level := schema.LevelExact + 1; level < schema.ErrorLevels; level++ {
			c.levelBits[f][level] |= 2 << i
		}
	}
}

// predict fills dst with what both ends expect of group g, and ctx with the contexts of its rows. There are two baselines or
// three. Slots that are empty in the newest come to hold anything.
func (c *codec) predict(h *baselineFrames, g int, dst []fieldBlock, ctx *contexts) {
	for r := range ctx {
		ctx[r] = c.exactContext
	}
	newest, middle := h.frames[0], h.frames[1]
	v0, v1, v2 := newest.group(g), middle.group(g), middle.group(g)
	same := newest.ids[g] == middle.ids[g]
	if oldest := h.frames[2]; oldest != nil {
		v2, same = oldest.group(g), same && newest.ids[g] == oldest.ids[g]
	}
	var levels [GroupRows]uint8
	for f := range dst {
		if c.constant[f] || v0[f] == v1[f] && v1[f] == v2[f] {
			dst[f] = v0[f]
			continue
		}
		c.coders[f].Predict(&h.spacing, dst[f][:], v0[f][:], v1[f][:], v2[f][:], levels[:])
		stir := &c.levelBits[f]
		for r := range ctx {
			ctx[r] ^= stir[levels[r]&(schema.ErrorLevels-1)]
		}
	}
	if same {
		return
	}
	var one [schema.MaxFields]uint8
	for r := range GroupRows {
		if n := h.depth(g, r); n != 0 {
			ctx[r] = c.predictRow(h, n, g, r, dst, &one)
		}
	}
}

// predictRow is expect for one row that stands in depth of the baselines, at least one, and returns its context. levels gets how
// surprising each field was.
func (c *codec) predictRow(h *baselineFrames, depth, g, r int, dst []fieldBlock, levels *[schema.MaxFields]uint8) uint32 {
	v0 := h.frames[0].group(g)
	if depth < 2 {
		for f := range dst {
			dst[f][r&15] = v0[f][r&15]
			levels[f] = schema.LevelUnknown
		}
		return 0
	}
	times := h.spacing
	v1 := h.frames[1].group(g)
	v2 := v1
	if depth > 2 {
		v2 = h.frames[2].group(g)
	} else {
		times = times.WithoutOldest()
	}
	ctx := c.exactContext
	for f := range dst {
		a, b, o := v0[f][r&15], v1[f][r&15], v2[f][r&15]
		if a == b && b == o {
			dst[f][r&15], levels[f] = a, schema.LevelExact
			continue
		}
		c.coders[f].Predict(&times, dst[f][r:r+1], v0[f][r:r+1], v1[f][r:r+1], v2[f][r:r+1], levels[f:f+1])
		ctx ^= c.levelBits[f][levels[f]&(schema.ErrorLevels-1)]
	}
	return ctx
}
