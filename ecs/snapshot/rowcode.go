package snapshot

import (
	"encoding/binary"
	"math/bits"

	"github.com/tickrate/tickrate/compress/bitio"
	"github.com/tickrate/tickrate/compress/huffman"
	"github.com/tickrate/tickrate/ecs/schema"
)

// The grammar of a row, in a block or in a run of rows. putRows writes it and takeRows reads it;
// nothing else knows it but the range coder's own form (rangeblock.go). takeRows also measures: a
// second instance of it notes what each bit is for.
//
//	not in the newest baseline:  0                      empty still; no bit at all if the block
//	                                                    has no spawns
//	                             1, new row             spawned: as spawn.go says
//	in the newest baseline:      Gone                   despawned
//	                             Replace, new row
//	                             Update+mask, changes   each field that is not as predicted, as
//	                                                    schema.Coder.Bits

// rowGroup is a group on its way through a codec. A reader finds the predicted values in now and
// changes them in place.
type rowGroup struct {
	index int          // of the group in its frame
	ids   *idBlock     // now
	was   *idBlock     // in the newest baseline; empty where there is none
	now   []fieldBlock // values now
	base  []fieldBlock // predicted values, as many as now; not read where was is empty
	ctx   *contexts    // of the prediction
	// Baselines, for corrections; read only.
	frames *baselineFrames
}

// bitSink collects bits at the end of a buffer: bits below n of acc are pending, the first one
// lowest.
type bitSink struct {
	buf       []byte // with 8 bytes of room after all that is written
	pos       int    // of the byte that the lowest pending bit belongs to
	acc       uint64
	n         uint               // below 8 between two rows
	emptyBits uint               // what a row takes that was and is empty, 0 or 1
	ends      *[GroupRows]uint32 // of loose rows: bits of buf up to the end of each
}

// rowForm is how rows are laid out: those of a block, or loose ones for runs of rows. It is a type
// and not a value, so that the compiler makes an instance of putRows for each: the length of the
// array is a constant there.
type rowForm interface{ [0]byte | [1]byte }

type (
	blockRows = [0]byte // all 16
	looseRows = [1]byte // each after a zero bit: its baseline is that of the row before
)

// putRows writes the rows of a group whose bit in which is set, in a block all that are not still. masks are
// those of compare. It reports whether a row that stays has changed.
//
// This loop is what a tick of a full lobby consists of: it packs bits as bitio.Writer does, but
// keeps the pending ones in registers, and the caller knows how much room there can be need for.
func putRows[F rowForm](
	c *codec, w *bitSink, g *rowGroup, masks *[GroupRows]uint16, which uint16,
) (changed bool) {
	var form F
	ids, was, values, ctx := g.ids, g.was, g.now, g.ctx
	coders, codes, base, symbols := c.coders[:len(values)], c.codes, g.base[:len(values)], c.symbols
	buf, pos, acc, n, emptyBits := w.buf, w.pos, w.acc, w.n, w.emptyBits
	any := uint16(0)
	// Codes of the masks, loaded together: one by one the loads would wait for each other.
	var heads [GroupRows]uint32
	if len(form) == 0 {
		for r := range GroupRows {
			heads[r] = codes[context(ctx[r])*symbols+schema.Update+int(masks[r])]
		}
	}
	for r, left := 0, which; r < GroupRows; r++ {
		if len(form) == 1 {
			if left == 0 {
				break
			}
			r, left = bits.TrailingZeros16(left), left&(left-1)
			n++
		} else if left>>r&1 == 0 {
			continue
		}
		r := r & 15
		id, before, word, mask := ids[r], was[r], ctx[r], masks[r]
		spawn := false
		switch {
		case before == 0:
			if spawn = id != 0; spawn {
				acc |= 1 << (n & 63)
			}
			n += emptyBits
		case id == before:
			any |= mask
			code := heads[r]
			if len(form) == 1 {
				code = codes[context(word)*symbols+schema.Update+int(mask)]
			}
			acc |= uint64(code&0xffff) << (n & 63)
			n += uint(code >> 16)
			for ; mask != 0; mask &= mask - 1 {
				binary.LittleEndian.PutUint64(buf[pos:], acc)
				pos += int(n >> 3)
				acc >>= n & 56
				n &= 7
				f := bits.TrailingZeros16(mask)
				code, k := coders[f].Bits(values[f][r], base[f][r], fieldContext(word, f))
				acc |= code << (n & 63)
				n += k
			}
		default:
			sym := schema.Gone
			if spawn = id != 0; spawn {
				sym = schema.Replace
			}
			code := c.of(word)[sym]
			acc |= uint64(code&0xffff) << (n & 63)
			n += uint(code >> 16)
		}
		if spawn {
			binary.LittleEndian.PutUint64(buf[pos:], acc)
			w.pos, w.acc, w.n = pos+int(n>>3), acc>>(n&56), n&7
			c.putSpawn(w, id, values, r)
			pos, acc, n = w.pos, w.acc, w.n
		}
		binary.LittleEndian.PutUint64(buf[pos:], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
		if len(form) == 1 {
			w.ends[r] = uint32(pos)*8 + uint32(n)
		}
	}
	w.pos, w.acc, w.n = pos, acc, n
	return any != 0
}

// metered says whether a read fills a meter, too. It is a type and not a value, so that the
// compiler makes an instance of the reader without the meter's code: there the length of the array
// is the constant 0.
type metered interface{ [0]byte | [1]byte }

type (
	unmetered = [0]byte
	measured  = [1]byte
)

// bitSource is what a read of rows stands on.
type bitSource struct {
	src   []byte
	off   int    // bits read
	bad   bool   // a code that does not exist, a generation of 0, or a value out of range
	meter *Meter // of a measured read
}

// end is the first whole byte after the bits read, or ok is false if they are no rows that putRows
// wrote.
func (x *bitSource) end() (n int, ok bool) {
	n = (x.off + 7) / 8
	return n, !x.bad && n <= len(x.src) && (x.off&7 == 0 || x.src[n-1]>>(x.off&7) == 0)
}

// takeRows reads the rows of a group whose bit in which is set, as putRows wrote them but for the
// bit in front of a loose one. ids are those of was before.
func takeRows[M metered, F rowForm](c *codec, x *bitSource, g *rowGroup, which uint16, emptyBits uint) {
	var meter M
	var form F
	src, off, bad := x.src, x.off, false
	window, left := uint64(0), uint(0) // the lowest left bits of window are good
	was, values, ctx := g.was, g.now, g.ctx
	coders, masks := c.coders[:len(values)], c.masks
	for r := 0; r < GroupRows; r++ {
		if len(form) == 1 {
			if which == 0 {
				break
			}
			r, which = bits.TrailingZeros16(which), which&(which-1)
		} else if which>>r&1 == 0 {
			c.correctRow(g, r)
			continue
		}
		r := r & 15
		if left < huffman.MaxLength {
			window, left = bitio.Peek(src, off), bitio.MaxBits
		}
		if was[r] == 0 {
			spawned := window&uint64(emptyBits) != 0
			window, left, off = window>>(emptyBits&63), left-emptyBits, off+int(emptyBits)
			if len(meter) == 1 {
				x.meter.emptySlot(spawned, emptyBits)
			}
			if spawned {
				x.off = off
				takeSpawn[M](c, x, g, r, ReasonSpawn)
				off, left = x.off, 0
			}
			continue
		}
		word := ctx[r]
		sym, n := masks[context(word)].Lookup(window)
		window, left, off = window>>(n&63), left-n, off+int(n)
		if len(meter) == 1 {
			x.meter.head(sym, n)
		}
		switch {
		case sym >= schema.Update:
			mask := uint16(sym - schema.Update)
			for m := mask | c.corrected; m != 0; m &= m - 1 {
				f := bits.TrailingZeros16(m)
				if c.corrected>>f&1 != 0 {
					if c.correctField(g, f, r); mask>>f&1 == 0 {
						continue
					}
				}
				base, k := values[f][r], fieldContext(word, f)
				v, n, ok := coders[f].Value(window, base, k)
				if n > left || n == 0 {
					window, left = bitio.Peek(src, off), bitio.MaxBits
					v, n, ok = coders[f].Value(window, base, k)
				}
				if len(meter) == 1 {
					x.meter.field(f, ReasonUpdate, n)
				}
				values[f][r] = v
				window, left, off = window>>(n&63), left-n, off+int(n)
				bad = bad || !ok
			}
		case sym == schema.Gone:
			g.ids[r] = 0
		case sym == schema.Replace:
			x.off = off
			takeSpawn[M](c, x, g, r, ReasonReplace)
			off, left = x.off, 0
		default:
			x.bad, x.off = true, off
			return
		}
	}
	x.off, x.bad = off, x.bad || bad
}
