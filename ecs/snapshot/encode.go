package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
)

// codec is a model laid out for the loops over rows.
type codec struct {
	mask   schema.Mask
	coders []schema.Coder
}

func newCodec(m *schema.Model) codec {
	if m.Schema().Single {
		panic("snapshot: " + m.Schema().Name + " is a single row, not a schema of entities")
	}
	return codec{m.Masks()[0], m.Coders()}
}

// MaxGroupBytes is the most that one block of the model can take: 16 times its longest row. With 12 fields of any
// range it stays below 1100 bytes, so a block always fits into a datagram.
func MaxGroupBytes(m *schema.Model) int { return (m.MaxRowBits()*GroupRows + 7) / 8 }

// empty is the baseline of a group that has none.
var empty idLane

// group appends the block of one group: ids and lanes as they are now, baseIDs and base as the client has them. base
// is not read where baseIDs is empty.
func (c *codec) group(w *bitio.Writer, ids *idLane, lanes []lane, baseIDs *idLane, base []lane) {
	var masks [GroupRows]uint16
	if baseIDs != &empty {
		compare(&masks, lanes, base)
	}
	for r := range GroupRows {
		id, was := ids[r], baseIDs[r]
		switch {
		case was == 0 && id == 0:
			w.Bits(0, 1)
		case was == 0:
			w.Bits(1, 1)
			c.spawn(w, id.Generation(), lanes, r)
		case id == was:
			c.update(w, masks[r], lanes, base, r)
		case id == 0:
			c.mask.Table.Encode(w, schema.Gone)
		default:
			c.mask.Table.Encode(w, schema.Replace)
			c.spawn(w, id.Generation(), lanes, r)
		}
	}
	w.Align()
}

// compare sets bit f of masks[r] where field f of row r differs.
func compare(masks *[GroupRows]uint16, lanes, base []lane) {
	base = base[:len(lanes)]
	for f := range lanes {
		a, b := &lanes[f], &base[f]
		if *a == *b {
			continue
		}
		for r := range GroupRows {
			x := uint32(a[r] ^ b[r])
			masks[r] |= uint16((x|-x)>>31) << (f & 15) // without a branch: whether a field moved is hard to guess
		}
	}
}

func (c *codec) update(w *bitio.Writer, mask uint16, lanes, base []lane, r int) {
	c.mask.Table.Encode(w, schema.Update+int(mask))
	for m := mask; m != 0; m &= m - 1 {
		f := bits.TrailingZeros16(m)
		w.Bits(c.coders[f].Bits(lanes[f][r], base[f][r]))
	}
}

func (c *codec) spawn(w *bitio.Writer, generation uint8, lanes []lane, r int) {
	w.Bits(uint64(generation), schema.GenerationBits)
	for f := range lanes {
		w.Bits(c.coders[f].Raw(lanes[f][r]))
	}
}
