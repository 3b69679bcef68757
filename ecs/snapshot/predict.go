package snapshot

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/schema"
)

// contexts says for each row of a group which tables code it. 0: there is one baseline at most.
//
//	bit 0        there are older baselines
//	bits 1..3    context field n of the model was not at schema.LevelExact
//	bits 4..63   5 bits a field: schema.Coder.Context, or with schema.Range the field's signal
type contexts [GroupRows]uint64

const (
	contextBits = 1 + schema.MaxContextFields
	signalBits  = 5
)

// unknown is the contexts of rows with one baseline, or none.
var unknown contexts

// context is the index of the model's mask table.
func context(word uint64) int { return int(word&(1<<contextBits-1)+1) >> 1 }

// fieldContext is the part of a word that is about field f.
func fieldContext(word uint64, f int) uint32 {
	return uint32(word >> ((contextBits + signalBits*uint(f)) & 63) & (1<<signalBits - 1))
}

// ranged reports whether blocks and loose rows with a baseline are range-coded.
func (c *codec) ranged() bool { return c.decide != nil }

// initContexts fills exactContext, signalBits and constant.
func (c *codec) initContexts(m *schema.Model) {
	c.exactContext = 1
	c.signalWords = make([][schema.Signals]uint64, len(c.coders))
	c.constant = make([]bool, len(c.coders))
	for f := range c.coders {
		coder, shift := &c.coders[f], contextBits+signalBits*f
		part := func(signal uint8) uint64 {
			switch {
			case !coder.UsesSignal():
				return 0
			case c.ranged():
				return uint64(signal) << shift
			default:
				return uint64(coder.Context(signal)) << shift
			}
		}
		c.constant[f] = !coder.UsesSignal() && !slices.Contains(m.ContextFields(), f)
		exact := part(schema.LevelExact)
		c.exactContext |= exact
		for signal := range uint8(schema.Signals) {
			c.signalWords[f][signal] = part(signal) ^ exact
		}
	}
	for i, f := range m.ContextFields() {
		for signal := range c.signalWords[f] {
			if signal&(schema.ErrorLevels-1) > schema.LevelExact {
				c.signalWords[f][signal] |= 2 << i
			}
		}
	}
}

// huffmanContexts is the contexts of a group for rows that schema.Range leaves to Huffman codes.
func (c *codec) huffmanContexts(dst, ctx *contexts) *contexts {
	for r, word := range ctx {
		dst[r] = c.huffmanContext(word)
	}
	return dst
}

func (c *codec) huffmanContext(word uint64) uint64 {
	out := word & (1<<contextBits - 1)
	for f := range c.coders {
		out |= uint64(c.coders[f].Context(uint8(fieldContext(word, f)))) << (contextBits + signalBits*f)
	}
	return out
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
	var signals [GroupRows]uint8
	for f := range dst {
		if c.constant[f] || v0[f] == v1[f] && v1[f] == v2[f] {
			dst[f] = v0[f]
			continue
		}
		c.coders[f].Predict(&h.spacing, dst[f][:], v0[f][:], v1[f][:], v2[f][:], signals[:])
		words := &c.signalWords[f]
		for r := range ctx {
			ctx[r] ^= words[signals[r]&(schema.Signals-1)]
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
// row is: for none it does nothing. signals gets what the baselines say of each field.
func (c *codec) predictRow(
	h *baselineFrames, slot int, dst []fieldBlock, signals *[schema.MaxFields]uint8,
) (ctx uint64, depth int) {
	g, r := slot/GroupRows, slot%GroupRows
	if depth = h.depth(g, r); depth == 0 {
		return 0, 0
	}
	v0 := h.frames[0].group(g)
	if depth < 2 {
		for f := range dst {
			dst[f][r&15] = v0[f][r&15]
			signals[f] = schema.LevelUnknown
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
			dst[f][r&15], signals[f] = a, schema.LevelExact
			continue
		}
		c.coders[f].Predict(&times, dst[f][r:r+1], v0[f][r:r+1], v1[f][r:r+1], v2[f][r:r+1], signals[f:f+1])
		ctx ^= c.signalWords[f][signals[f]&(schema.Signals-1)]
	}
	return ctx, depth
}
