package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// A row in a run of rows is
//
//	   gap    slots that are passed over since the row before, or since the first group's first slot
//	1  base   0: that of the row before, or of the run's header   1: 6 bits of age, 0 for none; if the run's header names older
//	          baselines 1 more: with older ones, as far before it as those of the header
//	   row    as in a block; 1 bit where nobody is in the baseline, or there is none
//
// and a gap is
//
//	0                    none
//	1, q ones, 0, 3 bits  8q + r + 1, q below 16
//	1, 16 ones, 16 bits   any
const (
	gapUnary  = 16 // ones that say that the gap follows as it is
	gapLow    = 3  // bits of r
	gapCoded  = gapUnary<<gapLow + 1
	maxGap    = 6               // bits of a gap within a group
	placeBits = 2 + gapLow      // bits of a gap but for the ones
	headBits  = 4               // 2 ones at most for each 16 slots passed, and a 16th of what a gap as it is takes more
	spaced    = 1<<gapUnary - 1 // ones
)

// gaps are the codes of small gaps: code | length<<24.
var gaps = func() (t [gapCoded]uint32) {
	t[0] = 1 << 24
	for i := range gapCoded - 1 {
		q, low := uint(i)>>gapLow, uint32(i)&(1<<gapLow-1)
		t[i+1] = 1 | (1<<q-1)<<1 | low<<(q+2) | uint32(q+2+gapLow)<<24
	}
	return t
}()

// gapBits returns the bits of a gap, at most 33, and how many there are.
func gapBits(gap int) (code uint64, n uint) {
	if gap < gapCoded {
		e := gaps[gap]
		return uint64(e & 0xffffff), uint(e >> 24)
	}
	return 1 | spaced<<1 | uint64(gap)<<(1+gapUnary), 1 + 2*gapUnary
}

// parseGap undoes gapBits.
func parseGap(window uint64) (gap int, n uint) {
	if window&1 == 0 {
		return 0, 1
	}
	window >>= 1
	q := uint(bits.TrailingZeros64(^window))
	if q >= gapUnary {
		return int(window >> gapUnary & (1<<16 - 1)), 1 + 2*gapUnary
	}
	return int(q<<gapLow|uint(window>>(q+1)&(1<<gapLow-1))) + 1, q + 2 + gapLow
}

// rows decodes a run of rows into the stage and returns its length in bytes.
func (d *Decoder) rows(t tick.Tick, run Run, src []byte) (n int, err error) {
	off, slot, group := 0, run.First*GroupRows-1, -1
	base, spacing := run.Base, run.spacing(d.interval)
	h, have := d.held(t, base)
	for range run.Count {
		window := bitio.Peek(src, off)
		gap, n := parseGap(window)
		off += int(n)
		slot += gap + 1
		g, r := slot/GroupRows, slot%GroupRows
		if g != group {
			if !d.open(g) {
				return 0, ErrGroup
			}
			group, d.staged = g, append(d.staged, staged{group: g})
		}
		if off++; window>>n&1 != 0 {
			off += ageBits
			with := uint8(0)
			if spacing != 0 {
				off++
				with = spacing * uint8(window>>(n+1+ageBits)&1)
			}
			var ok bool
			if base, ok = agedSet(uint8(window>>(n+1)&(1<<ageBits-1)), with, t, d.interval); !ok {
				return 0, ErrRun
			}
			h, have = d.held(t, base)
		}
		if !have || !h.hasRow(slot) {
			return 0, ErrNoBaseline
		}
		var ok bool
		if off, ok = d.codec.decodeRow(src, off, g, r, d.stage, &h); !ok {
			return 0, ErrBlock
		}
		d.staged[len(d.staged)-1].rows |= 1 << r
	}
	end := (off + 7) / 8
	if end > len(src) || off&7 != 0 && src[end-1]>>(off&7) != 0 {
		return 0, ErrBlock
	}
	return end, nil
}

// decodeRow reads what codec.row wrote of row r of group g, from bit off on, into f. All baselines know the row.
func (c *codec) decodeRow(src []byte, off, g, r int, f *Frame, h *held) (next int, ok bool) {
	ids, lanes := &f.ids[g], f.group(g)
	window := bitio.Peek(src, off)
	depth := h.depth(g, r)
	if depth == 0 {
		ids[r] = 0
		if off++; window&1 == 0 {
			return off, true
		}
		off, bad := c.decodeSpawn(src, off, false, g, r, ids, lanes)
		return off, !bad
	}
	var levels [schema.MaxFields]uint8
	ctx := c.expectRow(h, depth, g, r, lanes, &levels)
	sym, n := c.masks[context(ctx)].Lookup(window)
	window, left := window>>(n&63), bitio.MaxBits-n
	off += int(n)
	switch {
	case sym >= schema.Update:
		ids[r] = h.frames[0].ids[g][r]
		ok = true
		for m := uint16(sym - schema.Update); m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			base, k := lanes[i][r], class(ctx, i)
			v, n, good := c.coders[i].Value(window, base, k)
			if n > left || n == 0 {
				window, left = bitio.Peek(src, off), bitio.MaxBits
				v, n, good = c.coders[i].Value(window, base, k)
			}
			lanes[i][r] = v
			window, left, off = window>>(n&63), left-n, off+int(n)
			ok = ok && good
		}
		return off, ok
	case sym == schema.Gone:
		ids[r] = 0
		return off, true
	case sym == schema.Replace:
		off, bad := c.decodeSpawn(src, off, false, g, r, ids, lanes)
		return off, !bad
	}
	return off, false
}
