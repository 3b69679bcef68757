package snapshot

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
)

// ErrBlock says that bytes are no block: no code, a value out of range, bits set in the padding, or
// cut short.
var ErrBlock = errors.New("snapshot: bad block")

// A block is a whole group:
//
//	1  changed  0: all as predicted, and nothing follows
//	1  spawns   1: a slot that was empty is not; only then an empty slot takes a bit
//	1  still    for each half of the group that has schema.Model.RestRows rows at rest in their
//	            baselines: 1: all of these are as predicted, and take no bits below
//	   rows     all 16, as putRows writes them
//	   zero bits up to a whole byte

// putBlock appends the block of a group.
func (c *codec) putBlock(dst []byte, g *rowGroup) []byte {
	var masks [GroupRows]uint16
	same := *g.ids == *g.was
	if same && *g.ids == empty { // values of empty slots are not compared
		return append(dst, 0)
	}
	if g.was != &empty && !compare(&masks, g.now, g.base) && same {
		return append(dst, 0)
	}
	dst = slices.Grow(dst, c.bound+8)
	w := bitSink{buf: dst[:cap(dst)], pos: len(dst), acc: 1, n: 2}
	if !same && spawns(g.ids, g.was) {
		w.acc, w.emptyBits = 3, 1
	}
	rows := uint16(allRows)
	if c.restRows <= schema.GroupHalf {
		rows = c.putStill(&w, g, &masks)
	}
	// Only values of empty slots differ.
	if !putRows[blockRows](c, &w, g, &masks, rows) && same {
		return append(dst, 0)
	}
	return w.buf[:w.pos+int(w.n+7)>>3]
}

// restSet is the rows of a group that are at rest in their baselines: no context of theirs differs
// from that of schema.LevelExact.
func (c *codec) restSet(g *rowGroup) (rows uint16) {
	for r, word := range g.ctx {
		if word == c.exactContext && g.was[r] != 0 {
			rows |= 1 << r
		}
	}
	return rows
}

// halfRows is the rows of the first half of a group.
const halfRows = 1<<schema.GroupHalf - 1

// putStill writes the bits about rows at rest, and returns the rows that must be written.
func (c *codec) putStill(w *bitSink, g *rowGroup, masks *[GroupRows]uint16) (rows uint16) {
	changed := uint16(0)
	for r, mask := range masks {
		if mask != 0 || g.ids[r] != g.was[r] {
			changed |= 1 << r
		}
	}
	rows = allRows
	for _, rest := range halves(c.restSet(g)) {
		if bits.OnesCount16(rest) < c.restRows {
			continue
		}
		if rest&changed == 0 {
			w.acc |= 1 << w.n
			rows &^= rest
		}
		w.n++
	}
	return rows
}

// halves is the rows of a set in either half of a group.
func halves(rows uint16) [2]uint16 { return [2]uint16{rows & halfRows, rows &^ halfRows} }

// takeStill undoes putStill. It returns the number of bits, too.
func (c *codec) takeStill(g *rowGroup, window uint64) (rows uint16, n uint) {
	rows = allRows
	for _, rest := range halves(c.restSet(g)) {
		if bits.OnesCount16(rest) < c.restRows {
			continue
		}
		if window>>n&1 != 0 {
			rows &^= rest
		}
		n++
	}
	return rows, n
}

// spawns reports whether a slot that was empty is no more.
func spawns(ids, was *idBlock) bool {
	for r, id := range was {
		if id == 0 && ids[r] != 0 {
			return true
		}
	}
	return false
}

// takeBlock reads the block at the start of src and returns its length. On an error the group holds
// anything.
func takeBlock[M metered](c *codec, src []byte, g *rowGroup, m *Meter) (n int, err error) {
	var meter M
	head := bitio.Peek(src, 0)
	if head&1 == 0 {
		return 0, ErrBlock // an idle group is no block by itself: see idle.go
	}
	rows, still := uint16(allRows), uint(0)
	if c.restRows <= schema.GroupHalf {
		rows, still = c.takeStill(g, head>>2)
	}
	if len(meter) == 1 {
		m.row(ReasonHead, 2+int(still))
	}
	x := bitSource{src: src, off: 2 + int(still), meter: m}
	*g.ids = *g.was
	takeRows[M, blockRows](c, &x, g, rows, uint(head>>1&1))
	n, ok := x.end()
	if !ok {
		return 0, ErrBlock
	}
	if len(meter) == 1 {
		m.row(ReasonAlign, 8*n-x.off)
	}
	return n, nil
}

// compare sets bit f of masks[r] where field f of row r differs, and reports whether any does.
func compare(masks *[GroupRows]uint16, values, base []fieldBlock) (differ bool) {
	base = base[:len(values)]
	for f := range values {
		a, b := &values[f], &base[f]
		if *a == *b {
			continue
		}
		differ = true
		for r := range GroupRows {
			x := uint32(a[r] ^ b[r])
			// Branch-free: whether a field moved is hard to predict.
			masks[r] |= uint16((x|-x)>>31) << (f & 15)
		}
	}
	return differ
}
