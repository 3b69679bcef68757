package codeceval

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/tickrate/tickrate/bench/codeceval/rows"
)

// ErrStored says that bytes are no stored frame.
var ErrStored = errors.New("codeceval: not a stored frame")

// Stored writes what differs from the newest frame held:
//
//	per row that differs:
//	  uvarint  rows before it since the last that differed
//	  uvarint  mask: bit k set if field k differs
//	  uvarint  per field that differs: new less old, signs alternating (zigzag)
//
// The message ends with the last such row.
type Stored struct {
	fields int
	zeros  []int32
}

// NewStored returns a codec for rows of that many fields, 1 to 64.
func NewStored(fields int) *Stored { return &Stored{fields, make([]int32, fields)} }

func (c *Stored) held(past *rows.Past, e int) []int32 {
	if len(past.Frames) == 0 {
		return c.zeros
	}
	return past.Frames[0][e*c.fields:][:c.fields]
}

// Append is Codec's.
func (c *Stored) Append(dst []byte, frame []int32, past *rows.Past, live []bool) []byte {
	skipped := uint64(0)
	for e := range len(frame) / c.fields {
		if live != nil && !live[e] {
			continue
		}
		row, held := frame[e*c.fields:][:c.fields], c.held(past, e)
		mask := uint64(0)
		for f := range row {
			if row[f] != held[f] {
				mask |= 1 << f
			}
		}
		if mask == 0 {
			skipped++
			continue
		}
		dst = binary.AppendUvarint(dst, skipped)
		dst = binary.AppendUvarint(dst, mask)
		for ; mask != 0; mask &= mask - 1 {
			f := bits.TrailingZeros64(mask)
			d := row[f] - held[f]
			dst = binary.AppendUvarint(dst, uint64(uint32(d)<<1^uint32(d>>31)))
		}
		skipped = 0
	}
	return dst
}

// Decode is Codec's.
func (c *Stored) Decode(src []byte, frame []int32, past *rows.Past, live []bool) error {
	bad := false
	next := func() uint64 {
		v, n := binary.Uvarint(src)
		if n <= 0 {
			bad = true
			return 0
		}
		src = src[n:]
		return v
	}
	wait, more := uint64(0), len(src) > 0
	if more {
		wait = next()
	}
	for e := range len(frame) / c.fields {
		if live != nil && !live[e] {
			continue
		}
		row := frame[e*c.fields:][:c.fields]
		copy(row, c.held(past, e))
		if !more {
			continue
		}
		if wait > 0 {
			wait--
			continue
		}
		mask := next()
		bad = bad || mask == 0 || c.fields < 64 && mask>>c.fields != 0
		for ; mask != 0 && !bad; mask &= mask - 1 {
			z := next()
			bad = bad || z > 1<<32-1
			row[bits.TrailingZeros64(mask)] += int32(uint32(z)>>1 ^ -(uint32(z) & 1))
		}
		if bad {
			return ErrStored
		}
		if more = len(src) > 0; more {
			wait = next()
		}
	}
	if bad || more {
		return ErrStored
	}
	return nil
}
