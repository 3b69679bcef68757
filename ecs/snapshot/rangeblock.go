package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/compress/rangecoder"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// A block of schema.Range is a message of a range coder that says the same as a block of Huffman
// codes, in the same order: by yes or no, each as likely as schema.Decisions say, and by evenly
// likely bits.
//
//	no           1 of 256 yes: what follows is a byte 255 and a block of Huffman codes
//	changed      no: all as predicted; nothing follows
//	per row, in slot order:
//	  not in the newest baseline:  spawned?     yes: 8 bits of generation, then each field in the width of its range
//	  in the newest:               left?        yes: replaced?, evenly likely; yes: as spawned
//	                               otherwise for each field: changed?, bucket, extra bits
//
// It ends by itself. A block that would be longer than the bound of Huffman codes is sent as those,
// so that groups fit a datagram.
const (
	escape  = 0xff
	escapeP = rangecoder.One - rangecoder.One/256
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
	e.Reset(dst)
	e.Bit(false, escapeP)
	if e.Bit(changed, c.decide.Idle); changed {
		for r := range GroupRows {
			switch id, was := g.ids[r], g.was[r]; {
			case was == 0:
				if e.Bit(id != 0, c.decide.Spawn); id != 0 {
					c.putRangeSpawn(e, id, r, g.now)
				}
			case id != was:
				e.Bit(true, c.decide.Leave)
				if e.Bit(id != 0, evenly); id != 0 {
					c.putRangeSpawn(e, id, r, g.now)
				}
			default:
				e.Bit(false, c.decide.Leave)
				c.putRangeRow(e, g, r, masks[r])
			}
		}
	}
	out := e.FinishEmbedded()
	if len(out)-len(dst) < c.bound {
		return out
	}
	return c.putBlock(append(out[:len(dst)], escape), g)
}

func (c *codec) putRangeSpawn(e *rangecoder.Encoder, id netid.ID, r int, values []fieldBlock) {
	e.Bits(uint32(id.Generation()), schema.GenerationBits)
	for f := range values {
		code, n := c.coders[f].Raw(values[f][r])
		putEven(e, uint32(code), n)
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
	var sizes [schema.MaxFields + 1]uint8 // of the changes so far; the last place stays 0
	for f := range values {
		d := &c.decide.Fields[f]
		nodes := d.Nodes[(class(ctx, f)*schema.SizeClasses+uint32(sizes[d.ContextField]))*huffman.Buckets:][:huffman.Buckets]
		changed := mask>>f&1 != 0
		e.Bit(changed, uint32(nodes[0]))
		if !changed {
			continue
		}
		sym, extra, n := huffman.Bucket(c.coders[f].ZigzagDelta(values[f][r&15], base[f][r&15]))
		sizes[f] = uint8(schema.SizeClass(sym))
		node := 1
		for i := 3; i >= 0; i-- {
			b := sym >> i & 1
			e.Bit(b != 0, uint32(nodes[node&15]))
			node = node<<1 | b
		}
		if n > 0 {
			n--
			e.Bit(extra>>n&1 != 0, uint32(d.Top[sym&15]))
			putEven(e, extra&(1<<n-1), n)
		}
	}
}

// rangeSource is what a read of a range-coded block stands on.
type rangeSource struct {
	*rangecoder.EmbeddedDecoder
	bad   bool   // a generation of 0, or a value out of range
	meter *Meter // of a measured read
}

// takeRange is takeBlock for a block that putRange wrote.
func takeRange[M metered](c *codec, d *rangecoder.EmbeddedDecoder, src []byte, g *rowGroup, m *Meter) (n int, err error) {
	var meter M
	if len(src) > 0 && src[0] == escape {
		if len(meter) == 1 {
			m.row(ReasonHead, 8)
		}
		n, err = takeBlock[M](c, src[1:], g, m)
		return n + 1, err
	}
	*g.ids = *g.was
	x := rangeSource{EmbeddedDecoder: d, meter: m}
	d.Reset(src)
	if len(meter) == 1 {
		m.spent = 0
	}
	d.Bit(escapeP)
	if d.Bit(c.decide.Idle) {
		if len(meter) == 1 {
			m.row(ReasonHead, m.took(d))
		}
		takeRangeRows[M](c, &x, g)
	} else if len(meter) == 1 {
		m.row(ReasonSame, m.took(d))
	}
	if n = d.Size(); x.bad || n > len(src) {
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
		case g.was[r] == 0:
			if x.Bit(c.decide.Spawn) {
				takeRangeSpawn[M](c, x, g, r, ReasonSpawn)
			} else if len(meter) == 1 {
				x.meter.row(ReasonAbsent, x.meter.took(x.EmbeddedDecoder))
			}
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
}

func takeRangeSpawn[M metered](c *codec, x *rangeSource, g *rowGroup, r int, why Reason) {
	var meter M
	generation := uint8(x.Bits(schema.GenerationBits))
	g.ids[r] = netid.Make(g.index*GroupRows+r, generation)
	if len(meter) == 1 {
		x.meter.row(why, x.meter.took(x.EmbeddedDecoder))
	}
	bad := generation == 0
	for f := range g.now {
		v, ok := c.coders[f].RawValue(uint64(takeEven(x.EmbeddedDecoder, c.coders[f].Width())))
		if len(meter) == 1 {
			x.meter.field(f, why, uint(x.meter.took(x.EmbeddedDecoder)))
		}
		g.now[f][r] = v
		bad = bad || !ok
	}
	x.bad = x.bad || bad
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
	var sizes [schema.MaxFields + 1]uint8
	d, ctx, values := x.EmbeddedDecoder, g.ctx[r&15], g.now
	maskBits, why := 0, ReasonSame
	if len(meter) == 1 {
		maskBits = x.meter.took(d) // that the row stays
	}
	for f := range values {
		p := &c.decide.Fields[f]
		nodes := p.Nodes[(class(ctx, f)*schema.SizeClasses+uint32(sizes[p.ContextField]))*huffman.Buckets:][:huffman.Buckets]
		changed := d.Bit(uint32(nodes[0]))
		if len(meter) == 1 {
			maskBits += x.meter.took(d)
		}
		if !changed {
			continue
		}
		why = ReasonMask
		sym := takeBucket(d, nodes)
		sizes[f] = uint8(schema.SizeClass(sym))
		first, n := huffman.BucketRange(sym)
		if n > 0 {
			n--
			if d.Bit(uint32(p.Top[sym])) {
				first += 1 << n
			}
			first += takeEven(d, n)
		}
		if len(meter) == 1 {
			x.meter.field(f, ReasonUpdate, uint(x.meter.took(d)))
		}
		v, ok := c.coders[f].ApplyDelta(first, values[f][r&15])
		values[f][r&15] = v
		x.bad = x.bad || !ok
	}
	if len(meter) == 1 {
		x.meter.row(why, maskBits)
	}
}

// takeBucket reads a bucket, by what it is likely to be.
func takeBucket(d *rangecoder.EmbeddedDecoder, nodes []uint16) (sym int) {
	node := 1
	for range bits.Len(huffman.Buckets - 1) {
		node <<= 1
		if d.Bit(uint32(nodes[node>>1&15])) {
			node |= 1
		}
	}
	return node & (huffman.Buckets - 1)
}
