package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/ecs/schema"
)

// codec is a model laid out for the loops over rows.
type codec struct {
	masks   []schema.Mask // by context
	symbols int
	codes   []uint32 // of the masks' symbols, by context: code | length<<16; nil for who only reads
	coders  []schema.Coder
	calm    uint32
	stir    [][schema.Levels]uint32 // by field
	inert   []bool                  // by field: it is expected as it was, and its level decides nothing
	bound   int                     // bytes of a group at its worst
	dearest int                     // bits of a row at its worst, the bit before it included
	gone    int                     // bits that say that a row is gone, at most
	decide  *schema.Decisions       // nil unless blocks are those of schema.Range
}

func newCodec(m *schema.Model) codec {
	if m.Schema().Single {
		panic("snapshot: " + m.Schema().Name + " is a single row, not a schema of entities")
	}
	c := codec{masks: m.Masks(), coders: m.Coders()}
	c.symbols = c.masks[0].Table.Symbols()
	if m.Codec() == schema.Range {
		c.decide = m.Decisions()
	}
	c.stirs(m)
	return c
}

// writes makes what only an encoder needs.
func (c *codec) writes(m *schema.Model) {
	c.bound, c.dearest = MaxGroupBytes(m), 1+m.MaxRowBits()
	c.codes = make([]uint32, 0, len(c.masks)*c.symbols)
	for _, mask := range c.masks {
		for sym := range c.symbols {
			code, n := mask.Table.Code(sym)
			c.codes = append(c.codes, code|uint32(n)<<16)
		}
	}
	for context := range c.masks {
		c.gone = max(c.gone, int(c.codes[context*c.symbols+schema.Gone]>>16))
	}
}

// MaxGroupBytes is the most that one group of the model can take, as a block or row by row: 16 times its longest row, each
// with a baseline of its own, and the head. With 12 fields of any range it stays below 1120 bytes, so a group always fits
// into a datagram.
func MaxGroupBytes(m *schema.Model) int {
	return 1 + (2+(m.MaxRowBits()+maxGap+1+baseBits)*GroupRows+7)/8
}

// empty is the baseline of a group that has none.
var empty idLane

// of returns the codes of a row in a context.
func (c *codec) of(word uint32) []uint32 {
	return c.codes[context(word)*c.symbols:][:c.symbols]
}

// group appends the block of one group: ids and lanes as they are now, baseIDs as the client has them, base as it expects them
// and the contexts of that. Neither is read where baseIDs is empty. It packs bits as bitio.Writer does, but keeps the pending ones in registers and
// knows how much room there can be need for: this loop is what a tick of a full lobby consists of.
func (c *codec) group(dst []byte, ids *idLane, lanes []lane, baseIDs *idLane, base []lane, ctx *contexts) []byte {
	var masks [GroupRows]uint16
	same := *ids == *baseIDs
	if same && *ids == empty { // whatever was there once is not compared
		return append(dst, 0)
	}
	if baseIDs != &empty {
		if !compare(&masks, lanes, base) && same {
			return append(dst, 0)
		}
		base = base[:len(lanes)]
	}
	dst = slices.Grow(dst, c.bound+8)
	buf, pos := dst[:cap(dst)], len(dst)
	coders, codes := c.coders[:len(lanes)], c.codes
	acc, n := uint64(1), uint(2) // pending bits: fewer than 8 wherever bits are added
	slotBit := uint(0)           // what a slot costs that was empty
	if !same && spawns(ids, baseIDs) {
		acc, slotBit = 3, 1
	}
	changed := uint16(0)
	if !same {
		changed = 1
	}
	var heads [GroupRows]uint32 // codes of the masks: loads from all over a large table, which wait for each other if they are made row by row
	for r, mask := range masks {
		heads[r] = codes[context(ctx[r])*c.symbols+schema.Update+int(mask)]
	}
	for r := range GroupRows {
		id, was := ids[r], baseIDs[r]
		spawn := false
		switch {
		case was == 0:
			spawn = id != 0
			if spawn {
				acc |= 1 << (n & 63)
			}
			n += slotBit
		case id == was:
			changed |= masks[r]
			word, code := ctx[r], heads[r]
			acc |= uint64(code&0xffff) << (n & 63)
			n += uint(code >> 16)
			for m := masks[r]; m != 0; m &= m - 1 {
				binary.LittleEndian.PutUint64(buf[pos:], acc)
				pos += int(n >> 3)
				acc >>= n & 56
				n &= 7
				f := bits.TrailingZeros16(m)
				code, k := coders[f].Bits(lanes[f][r&15], base[f][r&15], class(word, f))
				acc |= code << (n & 63)
				n += k
			}
		default:
			spawn = id != 0
			sym := schema.Gone
			if spawn {
				sym = schema.Replace
			}
			code := c.of(ctx[r])[sym]
			acc |= uint64(code&0xffff) << (n & 63)
			n += uint(code >> 16)
		}
		if spawn {
			acc |= uint64(id.Generation()) << (n & 63)
			n += schema.GenerationBits
			for f := range coders {
				binary.LittleEndian.PutUint64(buf[pos:], acc)
				pos += int(n >> 3)
				acc >>= n & 56
				n &= 7
				code, k := coders[f].Raw(lanes[f][r&15])
				acc |= code << (n & 63)
				n += k
			}
		}
		binary.LittleEndian.PutUint64(buf[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
	}
	if changed == 0 { // what compare found lies in slots that are empty
		return append(dst, 0)
	}
	return buf[:pos+int(n+7)>>3]
}

// spawns reports whether a slot that was empty is no more.
func spawns(ids, baseIDs *idLane) bool {
	for r, was := range baseIDs {
		if was == 0 && ids[r] != 0 {
			return true
		}
	}
	return false
}

// compare sets bit f of masks[r] where field f of row r differs, and reports whether any does.
func compare(masks *[GroupRows]uint16, lanes, base []lane) (differ bool) {
	base = base[:len(lanes)]
	for f := range lanes {
		a, b := &lanes[f], &base[f]
		if *a == *b {
			continue
		}
		differ = true
		for r := range GroupRows {
			x := uint32(a[r] ^ b[r])
			masks[r] |= uint16((x|-x)>>31) << (f & 15) // without a branch: whether a field moved is hard to guess
		}
	}
	return differ
}
