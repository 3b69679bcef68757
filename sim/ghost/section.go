package ghost

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Head opens the snapshot section of a datagram. What follows it is, if Owner is set, the owner's row
// (snapshot.OwnerWriter), and then runs of groups to the end of the datagram (snapshot.Packer). Every datagram stands
// alone.
//
//	4  tick   the server tick that the rows describe
//	1  flags  1: the owner's row follows; 2: a checksum comes before it
//	4  sum    if announced: of the rows in this datagram, as snapshot.Packer.Sum makes it
type Head struct {
	Tick    tick.Tick
	Owner   bool
	Checked bool
	Sum     uint32 // 0 unless Checked
}

// Bits of a head's flags.
const (
	flagOwner   = 1
	flagChecked = 2
)

// ErrHead is returned for a snapshot section that ends within its head, or whose head makes no sense.
var ErrHead = errors.New("snapshot head is short, of tick 0 or has unknown flags")

// Append appends the head.
func (h Head) Append(dst []byte) []byte {
	flags := byte(0)
	if h.Owner {
		flags |= flagOwner
	}
	if h.Checked {
		flags |= flagChecked
	}
	dst = append(binary.LittleEndian.AppendUint32(dst, uint32(h.Tick)), flags)
	if h.Checked {
		dst = binary.LittleEndian.AppendUint32(dst, h.Sum)
	}
	return dst
}

// ParseHead reads what Append wrote and returns what follows it.
func ParseHead(src []byte) (h Head, rest []byte, err error) {
	if len(src) < 5 || src[4] > flagOwner|flagChecked {
		return h, nil, ErrHead
	}
	h = Head{Tick: tick.Tick(binary.LittleEndian.Uint32(src)), Owner: src[4]&flagOwner != 0, Checked: src[4]&flagChecked != 0}
	rest = src[5:]
	if h.Tick == 0 || h.Checked && len(rest) < 4 {
		return Head{}, nil, ErrHead
	}
	if h.Checked {
		h.Sum, rest = binary.LittleEndian.Uint32(rest), rest[4:]
	}
	return h, rest, nil
}
