package snapshot

import (
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// The head of a group in a run of rows says which rows follow:
//
//	2  kind   0: none   1: one row   2: two rows   3: any
//	   which  4 bits for each row, ascending; 16 bits, one a row, for any
const maxHeadBits = 2 + GroupRows

// rowsHead returns the bits of a group's head and how many there are.
func rowsHead(rows uint16) (code uint64, n uint) {
	switch bits.OnesCount16(rows) {
	case 0:
		return 0, 2
	case 1:
		return 1 | uint64(bits.TrailingZeros16(rows))<<2, 6
	case 2:
		return 2 | uint64(bits.TrailingZeros16(rows))<<2 | uint64(bits.Len16(rows)-1)<<6, 10
	}
	return 3 | uint64(rows)<<2, maxHeadBits
}

// parseHead undoes rowsHead.
func parseHead(window uint64) (rows uint16, n int) {
	switch window & 3 {
	case 0:
		return 0, 2
	case 1:
		return 1 << (window >> 2 & 15), 6
	case 2:
		return 1<<(window>>2&15) | 1<<(window>>6&15), 10
	}
	return uint16(window >> 2), maxHeadBits
}

// rows decodes a run of rows into the stage and returns its length in bytes.
func (d *Decoder) rows(t tick.Tick, run Run, src []byte) (n int, err error) {
	off, base := 0, d.At(run.Base)
	named := run.Base != 0
	for g := run.First; g < run.First+run.Count; g++ {
		rows, n := parseHead(bitio.Peek(src, off))
		off += n
		if rows == 0 {
			continue
		}
		if !d.open(g) {
			return 0, ErrGroup
		}
		for m := rows; m != 0; m &= m - 1 {
			window := bitio.Peek(src, off)
			off++
			if window&1 != 0 {
				at, ok := aged(uint8(window>>1&(1<<ageBits-1)), t, d.interval)
				if !ok {
					return 0, ErrRun
				}
				off += ageBits
				base, named = d.At(at), at != 0
			}
			r := bits.TrailingZeros16(m)
			if named && (base == nil || !base.HasRow(g*GroupRows+r)) {
				return 0, ErrNoBaseline
			}
			var ok bool
			if off, ok = d.codec.decodeRow(src, off, g, r, d.stage, base); !ok {
				return 0, ErrBlock
			}
		}
		d.staged = append(d.staged, staged{g, rows})
	}
	end := (off + 7) / 8
	if end > len(src) || off&7 != 0 && src[end-1]>>(off&7) != 0 {
		return 0, ErrBlock
	}
	return end, nil
}

// decodeRow reads what codec.row wrote of row r of group g, from bit off on, into f. base knows the row or is nil.
func (c *codec) decodeRow(src []byte, off, g, r int, f, base *Frame) (next int, ok bool) {
	ids, lanes := &f.ids[g], f.group(g)
	window := bitio.Peek(src, off)
	if base == nil || base.ids[g][r] == 0 {
		ids[r] = 0
		if off++; window&1 == 0 {
			return off, true
		}
		off, bad := c.decodeSpawn(src, off, false, g, r, ids, lanes)
		return off, !bad
	}
	sym, n := c.mask.Table.Lookup(window)
	off += int(n)
	switch {
	case sym >= schema.Update:
		ids[r] = base.ids[g][r]
		for i, l := range base.group(g) {
			lanes[i][r] = l[r]
		}
		ok = true
		for m := uint16(sym - schema.Update); m != 0; m &= m - 1 {
			i := bits.TrailingZeros16(m)
			v, n, good := c.coders[i].Value(bitio.Peek(src, off), lanes[i][r])
			lanes[i][r] = v
			off += int(n)
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
