package snapshot

import (
	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// A new row is coded against the origin of its snapshot, which both ends know: no other row, and no
// baseline, decides what it looks like.
//
//	8  generation
//	   symbol      schema.Raw: each field follows in the width of its range
//	               Update + mask: each field that is not as in the origin, as schema.Coder.Bits
//
// Whoever writes it takes what is shorter. A range-coded block has the same bits, each evenly
// likely.

// spawnCoder codes new rows of one snapshot.
type spawnCoder struct {
	*schema.Spawns
	codes    []uint32 // by symbol: code | length<<16; nil in a decoder
	origin   [schema.MaxFields]int32
	rawBits  int // of a row, but for its generation and the symbol
	originOf tick.Tick
}

// at turns to the snapshot of a tick.
func (s *spawnCoder) at(t tick.Tick) {
	if s.originOf != t {
		s.originOf = t
		s.Origin(s.origin[:len(s.Coders)], uint32(t))
	}
}

// init lays out the codes of a model.
func (s *spawnCoder) init(m *schema.Model) {
	s.Spawns = m.Spawns()
	for f := range s.Coders {
		s.rawBits += int(s.Coders[f].Width())
	}
	s.Origin(s.origin[:len(s.Coders)], 0)
}

// spawnCode is the bits of a new row after its generation: a symbol, and fields.
type spawnCode struct {
	symbol uint32 // code | length<<16
	fields int    // that follow
	bits   [schema.MaxFields]uint64
	sizes  [schema.MaxFields]uint8
}

// code chooses the bits of row r.
func (s *spawnCoder) code(x *spawnCode, values []fieldBlock, r int) {
	mask, total := uint16(0), 0
	x.fields = 0
	level := uint8(0)
	for f := range values {
		v, from := values[f][r&15], s.origin[f]
		if v != from {
			code, n := s.Coders[f].Bits(v, from, s.Coders[f].Context(level))
			mask |= 1 << f
			x.bits[x.fields], x.sizes[x.fields] = code, uint8(n)
			x.fields++
			total += int(n)
		}
		if f == s.Kind {
			level = s.Level(v)
		}
	}
	x.symbol = s.codes[schema.Update+int(mask)]
	if raw := s.codes[schema.Raw]; total+int(x.symbol>>16) > s.rawBits+int(raw>>16) {
		x.symbol, x.fields = raw, len(values)
		for f := range values {
			code, n := s.Coders[f].Raw(values[f][r&15])
			x.bits[f], x.sizes[f] = code, uint8(n)
		}
	}
}

// putSpawn appends a new row.
func (c *codec) putSpawn(w *bitSink, id netid.ID, values []fieldBlock, r int) {
	var x spawnCode
	c.spawns.code(&x, values, r)
	w.put(uint64(id.Generation())|uint64(x.symbol&0xffff)<<schema.GenerationBits,
		schema.GenerationBits+uint(x.symbol>>16))
	for i := range x.fields {
		w.put(x.bits[i], uint(x.sizes[i]))
	}
}

// takeSpawn reads the generation and the values of a row that is new in its slot.
func takeSpawn[M metered](c *codec, x *bitSource, g *rowGroup, r int, why Reason) {
	var meter M
	s := &c.spawns
	window := bitio.Peek(x.src, x.off)
	generation := uint8(window)
	g.ids[r] = netid.Make(g.index*GroupRows+r, generation)
	sym, n := s.Mask.Lookup(window >> schema.GenerationBits)
	x.off += schema.GenerationBits + int(n)
	if len(meter) == 1 {
		x.meter.row(why, schema.GenerationBits+int(n))
	}
	mask, good := spawnMask(sym)
	good = good && generation != 0
	level := uint8(0)
	for f := range g.now {
		v, n, ok := s.origin[f], uint(0), true
		switch coder := &s.Coders[f]; {
		case sym == schema.Raw:
			n = coder.Width()
			v, ok = coder.RawValue(bitio.Peek(x.src, x.off))
		case mask>>f&1 != 0:
			v, n, ok = coder.Value(bitio.Peek(x.src, x.off), v, coder.Context(level))
		}
		x.off += int(n)
		if len(meter) == 1 {
			x.meter.field(f, why, n)
		}
		if g.now[f][r&15] = v; f == s.Kind {
			level = s.Level(v)
		}
		good = good && ok
	}
	x.bad = x.bad || !good
}

// spawnMask is the mask of a symbol of new rows.
func spawnMask(sym int) (mask int, ok bool) {
	return max(sym-schema.Update, 0), sym == schema.Raw || sym >= schema.Update
}

// putRangeSpawn codes a new row in a range-coded message.
func (c *codec) putRangeSpawn(e *rangecoder.Encoder, id netid.ID, r int, values []fieldBlock) {
	var x spawnCode
	c.spawns.code(&x, values, r)
	e.Bits(uint32(id.Generation()), schema.GenerationBits)
	putBits(e, uint64(x.symbol&0xffff), uint(x.symbol>>16))
	for i := range x.fields {
		putBits(e, x.bits[i], uint(x.sizes[i]))
	}
}

// putBits codes the lowest n bits of v, one by one, the lowest first, all equally likely.
func putBits(e *rangecoder.Encoder, v uint64, n uint) {
	for ; n > 0; n-- {
		e.Bit(v&1 != 0, evenly)
		v >>= 1
	}
}

// takeBits reads n bits more after the lowest have bits of v.
func takeBits(d *rangecoder.EmbeddedDecoder, v uint64, have, n uint) uint64 {
	for ; n > 0; n-- {
		if d.Bit(evenly) {
			v |= 1 << (have & 63)
		}
		have++
	}
	return v
}

// takeRangeSpawn undoes putRangeSpawn.
func takeRangeSpawn[M metered](c *codec, x *rangeSource, g *rowGroup, r int, why Reason) {
	var meter M
	d, s := x.EmbeddedDecoder, &c.spawns
	generation := uint8(d.Bits(schema.GenerationBits))
	g.ids[r] = netid.Make(g.index*GroupRows+r, generation)
	sym, _, _ := takeSymbol(d, s.Mask.Table)
	if len(meter) == 1 {
		x.meter.row(why, x.meter.took(d))
	}
	mask, good := spawnMask(sym)
	good = good && generation != 0
	level := uint8(0)
	for f := range g.now {
		v, ok := s.origin[f], true
		switch coder := &s.Coders[f]; {
		case sym == schema.Raw:
			v, ok = coder.RawValue(takeBits(d, 0, 0, coder.Width()))
		case mask>>f&1 != 0:
			v, ok = takeCoded(d, coder, v, coder.Context(level))
		}
		if len(meter) == 1 {
			x.meter.field(f, why, uint(x.meter.took(d)))
		}
		if g.now[f][r&15] = v; f == s.Kind {
			level = s.Level(v)
		}
		good = good && ok
	}
	x.bad = x.bad || !good
}

// takeSymbol reads a symbol bit by bit, and returns its code. It is -1 for none.
func takeSymbol(d *rangecoder.EmbeddedDecoder, t *huffman.Table) (sym int, code uint64, n uint) {
	for n < huffman.MaxLength {
		code = takeBits(d, code, n, 1)
		n++
		if sym, size := t.Lookup(code); sym >= 0 && size <= n {
			return sym, code, n
		}
	}
	return -1, code, n
}

// takeCoded reads what schema.Coder.Bits wrote.
func takeCoded(
	d *rangecoder.EmbeddedDecoder, coder *schema.Coder, from int32, context uint32,
) (v int32, ok bool) {
	sym, window, n := takeSymbol(d, coder.Table(uint8(context>>1)))
	if sym < 0 {
		return from, false
	}
	window = takeBits(d, window, n, huffman.ExtraBits(sym))
	v, _, ok = coder.Value(window, from, context)
	return v, ok
}

// countSpawn adds the symbols of a new row.
func (c *codec) countSpawn(n *schema.Counts, values []fieldBlock, r int) {
	var signals [schema.MaxFields]uint8
	mask, level := uint16(0), uint8(0)
	for f := range values {
		v := values[f][r&15]
		if signals[f] = level; v != c.spawns.origin[f] {
			mask |= 1 << f
			bucket, _, _ := huffman.Bucket(c.coders[f].Delta(v, c.spawns.origin[f]))
			n.Field(f, level, bucket)
		}
		if f == c.spawns.Kind {
			level = c.spawns.Level(v)
		}
	}
	n.Masks[0][schema.Update+int(mask)]++
}
