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
//	1  flags  1: the owner's row follows
type Head struct {
	Tick  tick.Tick
	Owner bool
}

// ErrHead is returned for a snapshot section that ends within its head, or whose head makes no sense.
var ErrHead = errors.New("snapshot head is short, of tick 0 or has unknown flags")

// Append appends the head.
func (h Head) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.Tick))
	if h.Owner {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// ParseHead reads what Append wrote and returns what follows it.
func ParseHead(src []byte) (h Head, rest []byte, err error) {
	if len(src) < 5 || src[4] > 1 {
		return h, nil, ErrHead
	}
	h = Head{Tick: tick.Tick(binary.LittleEndian.Uint32(src)), Owner: src[4] == 1}
	if h.Tick == 0 {
		return Head{}, nil, ErrHead
	}
	return h, src[5:], nil
}
