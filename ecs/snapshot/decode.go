package snapshot

import (
	"errors"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/schema"
)

// ErrBlock says that bytes are no block: no code, a value out of range, bits set in the padding, or cut short.
var ErrBlock = errors.New("snapshot: bad block")

// decode undoes codec.group: it fills ids and lanes of group g, which hold what is expected, from the block at the start of src
// and returns the block's length. On an error ids and lanes hold anything.
func (c *codec) decode(src []byte, g int, ids *idLane, lanes []lane, baseIDs *idLane, ctx *contexts) (n int, err error) {
	*ids = *baseIDs
	head := bitio.Peek(src, 0)
	off, bad := 2, false
	if head&1 == 0 {
		if len(src) == 0 || src[0] != 0 {
			return 0, ErrBlock
		}
		return 1, nil
	}
	slotBit := head >> 1 & 1
	for r := range GroupRows {
		window := bitio.Peek(src, off)
		if baseIDs[r] == 0 {
			off += int(slotBit)
			if window&slotBit != 0 {
				off, bad = c.decodeSpawn(src, off, bad, g, r, ids, lanes)
			}
			continue
		}
		sym, n := c.masks[context(ctx[r])].Table.Lookup(window)
		off += int(n)
		switch {
		case sym >= schema.Update:
			for m := uint16(sym - schema.Update); m != 0; m &= m - 1 {
				f := bits.TrailingZeros16(m)
				v, n, ok := c.coders[f].Value(bitio.Peek(src, off), lanes[f][r], class(ctx[r], f))
				lanes[f][r] = v
				off += int(n)
				bad = bad || !ok
			}
		case sym == schema.Gone:
			ids[r] = 0
		case sym == schema.Replace:
			off, bad = c.decodeSpawn(src, off, bad, g, r, ids, lanes)
		default:
			return 0, ErrBlock
		}
	}
	end := (off + 7) / 8
	if bad || end > len(src) || off&7 != 0 && src[end-1]>>(off&7) != 0 {
		return 0, ErrBlock
	}
	return end, nil
}

func (c *codec) decodeSpawn(src []byte, off int, bad bool, g, r int, ids *idLane, lanes []lane) (int, bool) {
	generation := uint8(bitio.Peek(src, off))
	off += schema.GenerationBits
	ids[r] = ecs.MakeNetID(g*GroupRows+r, generation)
	bad = bad || generation == 0
	for f := range lanes {
		v, ok := c.coders[f].RawValue(bitio.Peek(src, off))
		lanes[f][r] = v
		off += int(c.coders[f].Width())
		bad = bad || !ok
	}
	return off, bad
}
