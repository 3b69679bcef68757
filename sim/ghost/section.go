package ghost

import (
	"encoding/binary"
	"errors"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Head opens the snapshot part of a datagram. What follows it is, if Owner is set, the owner row, and then runs of
// groups to the end of the datagram (package snapshot). Every datagram stands alone.
//
//	4  tick       the server tick that the rows describe
//	1  flags      1 owner row follows
//	1  ownerAge   only with an owner row: send intervals back to its baseline, 0 = none
type Head struct {
	Tick     tick.Tick
	Owner    bool
	OwnerAge uint8
}

// ErrHead is returned for a snapshot section that ends within its head, or whose head makes no sense.
var ErrHead = errors.New("snapshot head is short, of tick 0 or has unknown flags")

// Append appends the head.
func (h Head) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.Tick))
	if !h.Owner {
		return append(dst, 0)
	}
	return append(dst, 1, h.OwnerAge)
}

// ParseHead reads what Append wrote and returns what follows it.
func ParseHead(src []byte) (h Head, rest []byte, err error) {
	if len(src) < 5 || src[4] > 1 || len(src) < 5+int(src[4]) {
		return h, nil, ErrHead
	}
	h.Tick = tick.Tick(binary.LittleEndian.Uint32(src))
	if h.Tick == 0 {
		return h, nil, ErrHead
	}
	if src[4] == 1 {
		h.Owner, h.OwnerAge = true, src[5]
		return h, src[6:], nil
	}
	return h, src[5:], nil
}
