package netstate

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Header opens the snapshot section of a datagram. The owner's row (snapshot.OwnerWriter) follows
// if Owner is set, then a part about objects (AppendObjects) if Objects is set, effects
// (effect.Format) if Effects is set, and then runs of groups to the end of the datagram
// (snapshot.Packer). Every datagram stands alone.
//
//	4  tick   the server tick that the rows describe
//	1  flags  1: owner's row follows; 2: checksum before it; 4: objects before the runs; 8: effects
//	          after the objects
//	4  sum    if announced: of the players' rows in this datagram, as snapshot.Packer.Sum makes it
type Header struct {
	Tick    tick.Tick
	Owner   bool
	Checked bool
	Objects bool
	Effects bool
	Sum     uint32 // 0 unless Checked
}

// Bits of the flags.
const (
	flagOwner   = 1
	flagChecked = 2
	flagObjects = 4
	flagEffects = 8
)

// ErrHeader is returned for a snapshot section that ends within its header, or whose header is
// invalid.
var ErrHeader = errors.New("snapshot head is short, of tick 0 or has unknown flags")

// Append appends the header.
func (h Header) Append(dst []byte) []byte {
	flags := byte(0)
	if h.Owner {
		flags |= flagOwner
	}
	if h.Checked {
		flags |= flagChecked
	}
	if h.Objects {
		flags |= flagObjects
	}
	if h.Effects {
		flags |= flagEffects
	}
	dst = append(binary.LittleEndian.AppendUint32(dst, uint32(h.Tick)), flags)
	if h.Checked {
		dst = binary.LittleEndian.AppendUint32(dst, h.Sum)
	}
	return dst
}

// ParseHeader reads what Append wrote and returns what follows it.
func ParseHeader(src []byte) (h Header, rest []byte, err error) {
	if len(src) < 5 || src[4] > flagOwner|flagChecked|flagObjects|flagEffects {
		return h, nil, ErrHeader
	}
	h = Header{Tick: tick.Tick(binary.LittleEndian.Uint32(src)), Owner: src[4]&flagOwner != 0,
		Checked: src[4]&flagChecked != 0,
		Objects: src[4]&flagObjects != 0, Effects: src[4]&flagEffects != 0}
	rest = src[5:]
	if h.Tick == 0 || h.Checked && len(rest) < 4 {
		return Header{}, nil, ErrHeader
	}
	if h.Checked {
		h.Sum, rest = binary.LittleEndian.Uint32(rest), rest[4:]
	}
	return h, rest, nil
}

// AppendObjects begins a part about objects, with room for its checksum if the header announces
// one. SealObjects must follow, with the length that dst had here.
//
//	2  size  of the runs, not 0
//	4  sum   if the header announces one: of these rows, as snapshot.Packer.Sum makes it
//	n  runs  of groups of objects, as snapshot.Packer writes them
func (h Header) AppendObjects(dst []byte) []byte {
	var none [6]byte
	return append(dst, none[:h.ObjectsHeadSize()]...)
}

// ObjectsHeadSize is the number of bytes of a part about objects before its runs.
func (h Header) ObjectsHeadSize() int {
	if h.Checked {
		return 6
	}
	return 2
}

// SealObjects ends the part that began at byte at of dst.
func (h Header) SealObjects(dst []byte, at int, sum uint32) {
	n := len(dst) - at - 2
	if h.Checked {
		n -= 4
		binary.LittleEndian.PutUint32(dst[at+2:], sum)
	}
	binary.LittleEndian.PutUint16(dst[at:], uint16(n))
}

// CutObjects returns the runs of the part about objects at the front of src, their checksum, 0
// unless h is Checked, and what follows. The error is ErrHeader.
func (h Header) CutObjects(src []byte) (runs []byte, sum uint32, rest []byte, err error) {
	head := h.ObjectsHeadSize()
	if len(src) < head {
		return nil, 0, src, ErrHeader
	}
	n := int(binary.LittleEndian.Uint16(src))
	if n == 0 || n > len(src)-head {
		return nil, 0, src, ErrHeader
	}
	if h.Checked {
		sum = binary.LittleEndian.Uint32(src[2:])
	}
	return src[head : head+n], sum, src[head+n:], nil
}
