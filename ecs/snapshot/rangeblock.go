package snapshot

import (
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/schema"
)

// A block of schema.Range is a message of a range coder that says the same as a block of Huffman
// codes, in the same order: by yes or no, each as likely as schema.Decisions say, and by evenly
// likely bits.
//
//	no           1 of 256 yes: what follows is a byte 255 and a block of Huffman codes
//	yes          1 of 4 no: smaller first bytes are those of idle groups
//	per row, in slot order:
//	  not in the newest baseline:  spawned?  yes: the new row (spawn.go)
//	  in the newest:               left?     yes: replaced?, evenly likely; yes: as spawned
//	                               otherwise for each field: changed?, octave, sign, half, extra
//	                                         bits
//
// It ends by itself. A block that would be longer than the bound of Huffman codes is sent as those,
// so that groups fit a datagram.
const (
	escape  = 0xff
	escapeP = rangecoder.One - rangecoder.One/256
	idleP   = rangecoder.One/256*maxIdleFew + rangecoder.One/512 // a message's first byte is maxIdleFew or more
	evenly  = rangecoder.One / 2
)

// putRange appends the block of a group that has a baseline.
func (c *codec) putRange(e *rangecoder.Encoder, dst []byte, g *rowGroup) []byte {
	var masks [GroupRows]uint16
	compare(&masks, g.now, g.base)
	changed := *g.ids != *g.was
	for r, id := range g.ids {
		changed = changed || id != 0 && masks[r] != 0
	}
	if !changed {
		return append(dst, 0)
	}
	e.Reset(dst)
	e.Bit(false, escapeP)
	e.Bit(true, idleP)
	for r := range GroupRows {
		if g.was[r] != 0 {
			c.putRangeKnown(e, g, r, masks[r])
		} else if e.Bit(g.ids[r] != 0, c.decide.Spawn); g.ids[r] != 0 {
			c.putRangeSpawn(e, g.ids[r], r, g.now)
		}
	}
	out := e.FinishEmbedded()
	if len(out)-len(dst) < c.bound {
		return out
	}
	var room contexts
	g.ctx = c.huffmanContexts(&room, g.ctx)
	return c.putBlock(append(out[:len(dst)], escape), g)
}

// putRangeKnown codes a slot that the newest baseline has a row in.
func (c *codec) putRangeKnown(e *rangecoder.Encoder, g *rowGroup, r int, mask uint16) {
	id := g.ids[r]
	if e.Bit(id != g.was[r], c.decide.Leave); id == g.was[r] {
		c.putRangeRow(e, g, r, mask)
	} else if e.Bit(id != 0, evenly); id != 0 {
		c.putRangeSpawn(e, id, r, g.now)
	}
}

// putEven codes the lowest n bits of v, the lowest 16 first, all equally likely.
func putEven(e *rangecoder.Encoder, v uint32, n uint) {
	if n > 16 {
		e.Bits(v&0xffff, 16)
		v, n = v>>16, n-16
	}
	if n > 0 {
		e.Bits(v, n)
	}
}

// putRangeRow codes a row that stays.
func (c *codec) putRangeRow(e *rangecoder.Encoder, g *rowGroup, r int, mask uint16) {
	values, base, ctx := g.now, g.base, g.ctx[r&15]
	var x schema.RowFeatures
	for _, f := range c.decide.Levels {
		x.SetLevel(int(f), uint8(fieldContext(ctx, int(f))))
	}
	for f := range values {
		signal := uint8(fieldContext(ctx, f))
		nodes := c.decide.Fields[f].Nodes(signal, &x)
		changed := mask>>f&1 != 0
		e.Bit(changed, uint32(nodes[schema.NodeChanged]))
		if !changed {
			continue
		}
		sym, extra, n := huffman.Bucket(c.coders[f].Delta(values[f][r&15], base[f][r&15]))
		x.SetChange(f, sym)
		sym = huffman.Mirror(sym, uint32(signal)/schema.Falling)
		octave := huffman.Octave(sym)
		put4(e, nodes, min(octave, schema.MaxOctave))
		if octave >= schema.MaxOctave {
			c.large[f].put(e, octave)
			putEven(e, extra, n)
			continue
		}
		e.Bit(sym&1 != 0, uint32(nodes[schema.NodeSign+octave]))
		if octave > 0 {
			e.Bit(sym>>1&1 == 0, uint32(nodes[schema.NodeHalf+octave]))
			putEven(e, extra, n)
		}
	}
}

// put4 codes a number of 4 bits by the tree of a leaf.
func put4(e *rangecoder.Encoder, nodes *[schema.LeafNodes]uint16, v int) {
	node := schema.NodeOctave
	for i := 3; i >= 0; i-- {
		b := v >> i & 1
		e.Bit(b != 0, uint32(nodes[node&15]))
		node = node<<1 | b
	}
}

// rangeSource is what a read of a range-coded block stands on.
type rangeSource struct {
	*rangecoder.EmbeddedDecoder
	bad   bool   // a generation of 0, or a value out of range
	meter *Meter // of a measured read
}

// takeRange is takeBlock for a block that putRange wrote.
func takeRange[M metered](
	c *codec, d *rangecoder.EmbeddedDecoder, src []byte, g *rowGroup, m *Meter,
) (n int, err error) {
	var meter M
	if len(src) > 0 && src[0] == escape {
		if len(meter) == 1 {
			m.row(ReasonHead, 8)
		}
		var room contexts
		g.ctx = c.huffmanContexts(&room, g.ctx)
		n, err = takeBlock[M](c, src[1:], g, m)
		return n + 1, err
	}
	*g.ids = *g.was
	x := rangeSource{EmbeddedDecoder: d, meter: m}
	d.Reset(src)
	if len(meter) == 1 {
		m.spent = 0
	}
	x.bad = d.Bit(escapeP) || !d.Bit(idleP)
	if len(meter) == 1 {
		m.row(ReasonHead, m.took(d))
	}
	takeRangeRows[M](c, &x, g)
	n, ok := d.Size()
	if x.bad || !ok || n > len(src) {
		return 0, ErrBlock
	}
	if len(meter) == 1 {
		m.row(ReasonAlign, 8*n-int(m.spent))
	}
	return n, nil
}

func takeRangeRows[M metered](c *codec, x *rangeSource, g *rowGroup) {
	var meter M
	for r := range GroupRows {
		switch {
		case g.was[r] != 0:
			takeRangeKnown[M](c, x, g, r)
		case x.Bit(c.decide.Spawn):
			takeRangeSpawn[M](c, x, g, r, ReasonSpawn)
		case len(meter) == 1:
			x.meter.row(ReasonAbsent, x.meter.took(x.EmbeddedDecoder))
		}
	}
}

// takeRangeKnown undoes putRangeKnown.
func takeRangeKnown[M metered](c *codec, x *rangeSource, g *rowGroup, r int) {
	var meter M
	switch {
	case !x.Bit(c.decide.Leave):
		takeRangeRow[M](c, x, g, r)
	case x.Bit(evenly):
		takeRangeSpawn[M](c, x, g, r, ReasonReplace)
	default:
		g.ids[r] = 0
		if len(meter) == 1 {
			x.meter.row(ReasonGone, x.meter.took(x.EmbeddedDecoder))
		}
	}
}

// takeEven undoes putEven.
func takeEven(d *rangecoder.EmbeddedDecoder, n uint) (v uint32) {
	if n <= 16 {
		if n > 0 {
			v = d.Bits(n)
		}
		return v
	}
	v = d.Bits(16)
	return v | d.Bits(n-16)<<16
}

func takeRangeRow[M metered](c *codec, x *rangeSource, g *rowGroup, r int) {
	var meter M
	var features schema.RowFeatures
	d, ctx, values := x.EmbeddedDecoder, g.ctx[r&15], g.now
	maskBits, why := 0, ReasonSame
	if len(meter) == 1 {
		maskBits = x.meter.took(d) // that the row stays
	}
	for _, f := range c.decide.Levels {
		features.SetLevel(int(f), uint8(fieldContext(ctx, int(f))))
	}
	for f := range values {
		if c.corrected>>f&1 != 0 {
			c.correctField(g, f, r)
		}
		signal := uint8(fieldContext(ctx, f))
		nodes := c.decide.Fields[f].Nodes(signal, &features)
		changed := d.Bit(uint32(nodes[schema.NodeChanged]))
		if len(meter) == 1 {
			maskBits += x.meter.took(d)
		}
		if !changed {
			continue
		}
		why = ReasonMask
		sym, extra := takeChange(d, nodes, c.large[f])
		sym = huffman.Mirror(sym, uint32(signal)/schema.Falling)
		features.SetChange(f, sym)
		if len(meter) == 1 {
			x.meter.field(f, ReasonUpdate, uint(x.meter.took(d)))
		}
		v, ok := c.coders[f].Apply(huffman.Unbucket(sym, extra), values[f][r&15])
		values[f][r&15] = v
		x.bad = x.bad || !ok
	}
	if len(meter) == 1 {
		x.meter.row(why, maskBits)
	}
}

// takeChange reads the bucket of a change, by what it is likely to be, and the extra bits.
func takeChange(
	d *rangecoder.EmbeddedDecoder, nodes *[schema.LeafNodes]uint16, large largeOctaves,
) (sym int, extra uint32) {
	node := schema.NodeOctave
	for range 4 {
		node <<= 1
		if d.Bit(uint32(nodes[node>>1&15])) {
			node |= 1
		}
	}
	octave := node & 15
	if octave >= schema.MaxOctave {
		octave = large.take(d)
		sym = huffman.Coarse(octave)
		return sym, takeEven(d, huffman.ExtraBits(sym))
	}
	sym = max(4*octave-2, 0)
	if d.Bit(uint32(nodes[schema.NodeSign+octave])) {
		sym++
	}
	if octave > 0 {
		if d.Bit(uint32(nodes[schema.NodeHalf+octave])) {
			sym += 2
		}
		extra = takeEven(d, huffman.ExtraBits(sym))
	}
	return sym, extra
}
