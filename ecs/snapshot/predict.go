package snapshot

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/schema"
)

// contexts says for each row of a group which tables code it. 0: there is one baseline at most.
//
//	bit 0        there are older baselines
//	bits 1..3    context field n of the model was not at schema.LevelExact
//	bits 4..27   the class of each field's table, 2 bits each
type contexts [GroupRows]uint32

const (
	contextBits = 1 + schema.MaxContextFields
	classBits   = 2
)

// unknown is the contexts of rows with one baseline, or none.
var unknown contexts

// context is the index of the model's mask table.
func context(word uint32) int { return int(word&(1<<contextBits-1)+1) >> 1 }

// class is the class of field f's table.
func class(word uint32, f int) uint32 {
	return word >> (contextBits + classBits*uint(f)&31) & (1<<classBits - 1)
}

// initContexts fills exactContext, levelBits and constant.
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

// predict fills dst with the predicted values of group g, and ctx with the contexts of its rows.
// There are two baselines or three. For slots that are empty in the newest, dst holds anything.
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
		flips := &c.levelBits[f]
		for r := range ctx {
			ctx[r] ^= flips[levels[r]&(schema.ErrorLevels-1)]
		}
	}
	if same {
		return
	}
	var one [schema.MaxFields]uint8
	for r := range GroupRows {
		if word, depth := c.predictRow(h, g*GroupRows+r, dst, &one); depth != 0 {
			ctx[r] = word
		}
	}
}

// predictRow is predict for one slot. It returns the row's context and in how many baselines the
// row is: for none it does nothing. levels gets how wrong the predictor was lately, by field.
func (c *codec) predictRow(h *baselineFrames, slot int, dst []fieldBlock, levels *[schema.MaxFields]uint8) (ctx uint32, depth int) {
	g, r := slot/GroupRows, slot%GroupRows
	if depth = h.depth(g, r); depth == 0 {
		return 0, 0
	}
	v0 := h.frames[0].group(g)
	if depth < 2 {
		for f := range dst {
			dst[f][r&15] = v0[f][r&15]
			levels[f] = schema.LevelUnknown
		}
		return 0, depth
	}
	times := h.spacing
	v1 := h.frames[1].group(g)
	v2 := v1
	if depth > 2 {
		v2 = h.frames[2].group(g)
	} else {
		times = times.WithoutOldest()
	}
	ctx = c.exactContext
	for f := range dst {
		a, b, o := v0[f][r&15], v1[f][r&15], v2[f][r&15]
		if a == b && b == o {
			dst[f][r&15], levels[f] = a, schema.LevelExact
			continue
		}
		c.coders[f].Predict(&times, dst[f][r:r+1], v0[f][r:r+1], v1[f][r:r+1], v2[f][r:r+1], levels[f:f+1])
		ctx ^= c.levelBits[f][levels[f]&(schema.ErrorLevels-1)]
	}
	return ctx, depth
}
