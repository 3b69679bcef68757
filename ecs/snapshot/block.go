package snapshot

import (
	"errors"
	"slices"

	"github.com/tickrate/tickrate/compress/bitio"
)

// ErrBlock says that bytes are no block: no code, a value out of range, bits set in the padding, or
// cut short.
var ErrBlock = errors.New("snapshot: bad block")

// A block is a whole group:
//
//	1  changed  0: all as predicted, and nothing follows
//	1  spawns   1: a slot that was empty is not; only then an empty slot takes a bit
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
	// Only values of empty slots differ.
	if !putRows[blockRows](c, &w, g, &masks, allRows) && same {
		return append(dst, 0)
	}
	return w.buf[:w.pos+int(w.n+7)>>3]
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
	if len(meter) == 1 {
		m.row(ReasonHead, 2)
	}
	x := bitSource{src: src, off: 2, meter: m}
	*g.ids = *g.was
	takeRows[M, blockRows](c, &x, g, allRows, uint(head>>1&1))
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
