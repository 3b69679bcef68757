package snapshot

import (
	"errors"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
)

// ErrBlock says that bytes are no block: no code, a value out of range, bits set in the padding, or cut short.
var ErrBlock = errors.New("snapshot: bad block")

// decode undoes codec.group: it fills ids and lanes of group g, which hold what is expected, from the block at the start of src
// and returns the block's length. On an error ids and lanes hold anything.
func (c *codec) decode(src []byte, g int, ids *idLane, lanes []lane, baseIDs *idLane, ctx *contexts) (n int, err error) {
	*ids = *baseIDs
	window, left := bitio.Peek(src, 0), uint(bitio.MaxBits) // of window, so many bits are good
	if window&1 == 0 {
		if len(src) == 0 || src[0] != 0 {
			return 0, ErrBlock
		}
		return 1, nil
	}
	slotBit := window >> 1 & 1
	window, left = window>>2, left-2
	off, bad := 2, false
	coders, masks := c.coders[:len(lanes)], c.masks
	for r := range GroupRows {
		if left < huffman.MaxLength {
			window, left = bitio.Peek(src, off), bitio.MaxBits
		}
		if baseIDs[r] == 0 {
			spawns := window&slotBit != 0
			window, left, off = window>>slotBit, left-uint(slotBit), off+int(slotBit)
			if spawns {
				off, bad = c.decodeSpawn(src, off, bad, g, r, ids, lanes)
				left = 0
			}
			continue
		}
		word := ctx[r]
		sym, n := masks[context(word)].Lookup(window)
		window, left, off = window>>(n&63), left-n, off+int(n)
		switch {
		case sym >= schema.Update:
			for m := uint16(sym - schema.Update); m != 0; m &= m - 1 {
				f := bits.TrailingZeros16(m)
				base, k := lanes[f][r], class(word, f)
				v, n, ok := coders[f].Value(window, base, k)
				if n > left || n == 0 {
					window, left = bitio.Peek(src, off), bitio.MaxBits
					v, n, ok = coders[f].Value(window, base, k)
				}
				lanes[f][r] = v
				window, left, off = window>>(n&63), left-n, off+int(n)
				bad = bad || !ok
			}
		case sym == schema.Gone:
			ids[r] = 0
		case sym == schema.Replace:
			off, bad = c.decodeSpawn(src, off, bad, g, r, ids, lanes)
			left = 0
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
	window, left := bitio.Peek(src, off), uint(bitio.MaxBits-schema.GenerationBits)
	generation := uint8(window)
	window, off = window>>schema.GenerationBits, off+schema.GenerationBits
	ids[r] = netid.Make(g*GroupRows+r, generation)
	bad = bad || generation == 0
	coders := c.coders[:len(lanes)]
	for f := range lanes {
		n := coders[f].Width()
		if n > left {
			window, left = bitio.Peek(src, off), bitio.MaxBits
		}
		v, ok := coders[f].RawValue(window)
		lanes[f][r&15] = v
		window, left, off = window>>(n&63), left-n, off+int(n)
		bad = bad || !ok
	}
	return off, bad
}
