package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// rowBits is one row against one baseline as it is sent to everybody who needs it, so short that it is a number in most
// cases. Bit 0 is 0: the baseline is that of the row before.
//
//	bits 56..63  number of bits, at most 56; long: it lies elsewhere; 0: not made yet
//	bits 0..55   the bits, the first one lowest
//
// A long one has in bits 32..55 the number of bits and in bits 0..31 where they begin in column.long, in whole bytes.
type rowBits uint64

const (
	inlineBits = 56
	long       = 0xff
)

// size is the number of bits of a row that has been made.
func (b rowBits) size() uint {
	if n := uint(b >> 56); n != long {
		return n
	}
	return uint(b >> 32 & (1<<24 - 1))
}

// rows returns the column of a baseline with room for its rows' bits.
func (e *Encoder) rows(base Bases) *column {
	c := e.column(base)
	if !c.byRow {
		if c.rows == nil {
			e.roomForRows()
		}
		clear(c.rows)
		clear(c.asked)
		c.long, c.byRow = c.long[:0], true
	}
	return c
}

// roomForRows makes room for rows in all columns at once, so that no later snapshot has to.
func (e *Encoder) roomForRows() {
	for _, c := range e.columns {
		if c.rows == nil {
			c.rows, c.long = make([]rowBits, e.groups*GroupRows), make([]byte, 0, (e.groups+1)*e.codec.bound+8)
			c.asked = make([]uint8, e.groups)
		}
	}
}

// enough is how many rows of a group are made one by one before it is worth while to make the others, too: together a row costs about
// a third, so what that wastes at most is what it saves if they are all wanted.
const enough = 3

// row makes the bits of a row that is there now; in a baseline that is a frame it was there, too.
func (e *Encoder) row(c *column, slot int) rowBits {
	g, r := slot/GroupRows, slot%GroupRows
	lanes := e.frame.group(g)
	baseIDs, base, ctx := e.expected(c, g)
	if c.asked[g]++; c.asked[g] == enough && baseIDs != &empty && e.counts == nil {
		rows := (*[GroupRows]rowBits)(c.rows[g*GroupRows:])
		e.codec.rows(rows, &e.frame.ids[g], lanes, baseIDs, base, ctx)
		if rows[r] != 0 {
			return rows[r]
		}
	}
	id, was := e.frame.ids[g][r], baseIDs[r]
	buf := slices.Grow(c.long, e.codec.bound+8)
	at := len(buf)
	n := e.codec.row(buf[at:cap(buf)], id, was, r, lanes, base, ctx[r])
	b := rowBits(n)<<56 | rowBits(binary.LittleEndian.Uint64(buf[at:cap(buf)])&(1<<n-1))
	if n > inlineBits {
		b = long<<56 | rowBits(n)<<32 | rowBits(at)
		buf = buf[:at+int(n+7)/8]
	}
	c.long, c.rows[slot] = buf, b
	if e.counts != nil {
		e.codec.countRow(e.counts, &c.held, id, was, g, r, lanes)
	}
	return b
}

// rows makes the bits of all rows of a group that go on, but those that are made and those that would be long.
func (c *codec) rows(dst *[GroupRows]rowBits, ids *idLane, lanes []lane, baseIDs *idLane, base []lane, ctx *contexts) {
	var masks [GroupRows]uint16
	compare(&masks, lanes, base)
	coders := c.coders[:len(lanes)]
	base = base[:len(lanes)]
	for r, id := range ids {
		if id == 0 || id != baseIDs[r] || dst[r] != 0 {
			continue
		}
		word := ctx[r]
		code := c.codes[context(word)*c.symbols+schema.Update+int(masks[r])]
		acc, n := uint64(code&0xffff)<<1, 1+uint(code>>16)
		for m := masks[r]; m != 0 && n <= inlineBits; m &= m - 1 {
			f := bits.TrailingZeros16(m)
			code, k := coders[f].Bits(lanes[f][r&15], base[f][r&15], class(word, f))
			acc |= code << n
			n += k
		}
		if n <= inlineBits {
			dst[r] = rowBits(n)<<56 | rowBits(acc)
		}
	}
}

// row writes one row behind a zero bit and returns the number of bits: the twin of decodeRow. was is 0 where there is no
// baseline or nobody in it. The bits behind the last one in its byte are zero.
func (c *codec) row(buf []byte, id, was netid.ID, r int, lanes, base []lane, ctx uint32) uint {
	coders := c.coders[:len(lanes)]
	acc, n, pos := uint64(0), uint(1), 0
	switch {
	case was == 0:
		if id != 0 {
			acc |= 1 << 1
		}
		n++
	case id == was:
		mask := rowMask(r, lanes, base)
		code := c.of(ctx)[schema.Update+int(mask)]
		acc |= uint64(code&0xffff) << n
		n += uint(code >> 16)
		for m := mask; m != 0; m &= m - 1 {
			binary.LittleEndian.PutUint64(buf[pos:], acc)
			pos += int(n >> 3)
			acc >>= n & 56
			n &= 7
			f := bits.TrailingZeros16(m)
			code, k := coders[f].Bits(lanes[f][r&15], base[f][r&15], class(ctx, f))
			acc |= code << (n & 63)
			n += k
		}
	default:
		sym := schema.Gone
		if id != 0 {
			sym = schema.Replace
		}
		code := c.of(ctx)[sym]
		acc |= uint64(code&0xffff) << n
		n += uint(code >> 16)
	}
	if id != was && id != 0 {
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
	return uint(pos)*8 + n
}

// rowMask has bit f set where field f of row r differs.
func rowMask(r int, lanes, base []lane) (mask uint16) {
	base = base[:len(lanes)]
	for f := range lanes {
		x := uint32(lanes[f][r&15] ^ base[f][r&15])
		mask |= uint16((x|-x)>>31) << (f & 15)
	}
	return mask
}
