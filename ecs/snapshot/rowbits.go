package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// rowBits is one row against one set of baselines, coded for all clients. Most rows fit the number
// itself. Bit 0 is 0: the baseline is that of the row before.
//
//	bits 56..63  number of bits, at most 56; long: it lies elsewhere; 0: not made yet
//	bits 0..55   the bits, the first one lowest
//
// A long row has in bits 32..55 the number of bits and in bits 0..31 its place in
// encodeCache.long, in bits.
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

// rows returns the cache of baselines with room for rows.
func (e *Encoder) rows(base Baselines) *encodeCache {
	c := e.cache(base)
	if !c.byRow {
		if c.rows == nil {
			e.reserveRows()
		}
		clear(c.rows)
		clear(c.requested)
		c.long, c.byRow = c.long[:0], true
	}
	return c
}

// reserveRows makes room for rows in all caches, so that no later snapshot allocates.
func (e *Encoder) reserveRows() {
	for _, c := range e.caches {
		if c.rows == nil {
			c.rows = make([]rowBits, e.groups*GroupRows)
			c.requested = make([]uint8, e.groups)
			c.reserveLong(e)
		}
	}
}

// batchAfter is how many times rows of a group are coded by request before the others are coded
// along with the next. Together a row costs about a third, so the waste is at most what the batch
// saves if all are wanted. Without a baseline a row costs the same together.
const batchAfter = 3

// codeRows codes rows of a group that are there now and have not been coded. In their baseline, if
// any, they were there, too.
func (e *Encoder) codeRows(c *encodeCache, index int, which uint16) {
	g := e.group(c, index)
	var masks [GroupRows]uint16
	if e.counts != nil {
		for w := which; w != 0; w &= w - 1 {
			e.codec.countRow(e.counts, &c.frames, &g, bits.TrailingZeros16(w), 0)
		}
	} else if c.requested[index]++; c.requested[index] >= batchAfter && g.was != &empty {
		which |= g.staying() &^ made(c.rows[index*GroupRows:])
	}
	switch {
	case g.was == &empty:
	case which&(which-1) == 0:
		r := bits.TrailingZeros16(which)
		masks[r&15] = rowMask(r, g.now, g.base)
	default:
		compare(&masks, g.now, g.base)
	}
	e.putLoose(c, &g, &masks, which)
}

// staying is the rows that are in the baseline and still there.
func (g *rowGroup) staying() (rows uint16) {
	for r, id := range g.ids {
		if id != 0 && id == g.was[r] {
			rows |= 1 << r
		}
	}
	return rows
}

// made is the rows of a group that have been coded.
func made(rows []rowBits) (set uint16) {
	for r, b := range rows[:GroupRows] {
		if b != 0 {
			set |= 1 << r
		}
	}
	return set
}

// putLoose codes the rows in which, one after the other.
func (e *Encoder) putLoose(c *encodeCache, g *rowGroup, masks *[GroupRows]uint16, which uint16) {
	buf := slices.Grow(c.long, e.codec.bound+8)
	at := len(buf)
	e.Coded.Rows += uint64(bits.OnesCount16(which))
	var ends [GroupRows]uint32
	w := bitSink{buf: buf[at:cap(buf)], emptyBits: 1, ends: &ends}
	if e.codec.ranged() {
		e.codec.putRangeLoose(&e.rangeRows, &w, g, masks, which)
	} else {
		putRows[looseRows](&e.codec, &w, g, masks, which)
	}
	rows, start := (*[GroupRows]rowBits)(c.rows[g.index*GroupRows:]), uint32(0)
	for ; which != 0; which &= which - 1 {
		r := bits.TrailingZeros16(which) & 15
		end := ends[r]
		if n := end - start; n <= inlineBits {
			window := binary.LittleEndian.Uint64(w.buf[start>>3:]) >> (start & 7)
			rows[r] = rowBits(n)<<56 | rowBits(window&(1<<n-1))
		} else {
			rows[r] = long<<56 | rowBits(n)<<32 | rowBits(uint32(at)*8+start)
			buf = buf[:at+int(end+7)/8]
		}
		start = end
	}
	c.long = buf
}

// rowMask has bit f set where field f of row r differs.
func rowMask(r int, values, base []fieldBlock) (mask uint16) {
	base = base[:len(values)]
	for f := range values {
		x := uint32(values[f][r&15] ^ base[f][r&15])
		mask |= uint16((x|-x)>>31) << (f & 15)
	}
	return mask
}
