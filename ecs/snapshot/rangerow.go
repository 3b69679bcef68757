package snapshot

import (
	"encoding/binary"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/rangecoder"
)

// A loose row of schema.Range that its newest baseline holds is a message of a range coder, which
// ends at a bit. So it depends on no other row, and all clients share it:
//
//	no     1 of 256 yes: what follows are 8 ones, a zero, and a row of Huffman codes
//	       the slot as in a block of schema.Range
//
// The first bit of the message, the highest of its number, comes first. A message that would be
// longer than any row of Huffman codes is sent as such.

// looseEscape stands where a message would: no message begins with 8 ones.
const (
	looseEscape     = 0xff
	looseEscapeBits = 9
)

// rangeRows is what putRangeLoose needs beside a group.
type rangeRows struct {
	coder   rangecoder.Encoder
	message []byte
}

// putRangeLoose writes the rows in which as putRows does.
func (c *codec) putRangeLoose(e *rangeRows, w *bitSink, g *rowGroup, masks *[GroupRows]uint16, which uint16) {
	for ; which != 0; which &= which - 1 {
		r := bits.TrailingZeros16(which) & 15
		if g.was[r] == 0 {
			putRows[looseRows](c, w, g, masks, 1<<r)
			continue
		}
		e.coder.Reset(e.message[:0])
		e.coder.Bit(false, escapeP)
		c.putRangeKnown(&e.coder, g, r, masks[r])
		n := 0
		e.message, n = e.coder.FinishBits()
		w.put(0, 1)
		if n > c.maxCodedBits {
			w.put(looseEscape, looseEscapeBits-1)
			var room contexts
			huffman := *g
			huffman.ctx = c.huffmanContexts(&room, g.ctx)
			putRows[looseRows](c, w, &huffman, masks, 1<<r)
			continue
		}
		for _, b := range e.message {
			k := min(n, 8)
			w.put(uint64(bits.Reverse8(b))&(1<<k-1), uint(k))
			n -= k
		}
		w.ends[r] = uint32(w.pos)*8 + uint32(w.n)
	}
}

// put appends the lowest n bits of v, at most 56.
func (w *bitSink) put(v uint64, n uint) {
	w.acc |= v << (w.n & 63)
	w.n += n
	binary.LittleEndian.PutUint64(w.buf[w.pos:], w.acc)
	w.pos += int(w.n >> 3)
	w.acc >>= w.n & 56
	w.n &= 7
}

// goneMessage is the message of a row that is gone, the same in any context.
func (c *codec) goneMessage() (code uint64, n uint) {
	var e rangecoder.Encoder
	e.Reset(nil)
	e.Bit(false, escapeP)
	e.Bit(true, c.decide.Leave)
	e.Bit(false, evenly)
	message, size := e.FinishBits()
	for i, b := range message {
		code |= uint64(bits.Reverse8(b)) << (8 * i)
	}
	return code & (1<<size - 1), uint(size)
}

// takeRangeLoose reads the row of slot r, which is in the newest baseline, as putRangeLoose wrote
// it but for the bit in front.
func takeRangeLoose[M metered](d *sectionReader, x *bitSource, g *rowGroup, r int) {
	var meter M
	c := d.codec
	if bitio.Peek(x.src, x.off)&looseEscape == looseEscape {
		x.off += looseEscapeBits
		if len(meter) == 1 {
			x.meter.row(ReasonHead, looseEscapeBits)
		}
		g.ctx[r] = c.huffmanContext(g.ctx[r])
		takeRows[M, looseRows](c, x, g, 1<<r, 1)
		return
	}
	n := (c.maxCodedBits + 7) / 8
	for at := 0; at < n; at += 7 {
		window := bits.ReverseBytes64(bits.Reverse64(bitio.Peek(x.src, x.off+8*at)))
		binary.LittleEndian.PutUint64(d.message[at:], window)
	}
	d.coder.Reset(d.message[:n])
	source := rangeSource{EmbeddedDecoder: &d.coder, meter: x.meter}
	if len(meter) == 1 {
		x.meter.spent = 0
	}
	d.coder.Bit(escapeP)
	takeRangeKnown[M](c, &source, g, r)
	size, ok := d.coder.SizeBits()
	if len(meter) == 1 {
		x.meter.row(ReasonAlign, size-int(x.meter.spent))
	}
	x.off += size
	x.bad = x.bad || source.bad || !ok
}
