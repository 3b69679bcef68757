package packet

import (
	"errors"
	"time"
)

// Limits of reliable events.
const (
	MaxReliable    = 64  // queued and not yet acked
	MaxMessageSize = 256 // bytes; the least is 1
)

// Errors of Peer.QueueReliable. They are about the caller, not about a package.
var (
	ErrReliableFull = errors.New("packet: 64 reliable messages are not acked yet")
	ErrMessageSize  = errors.New("packet: a message has 1 to 256 bytes")
)

const never = time.Duration(-1 << 62)

// reliableSender holds the events that the peer has not acked, by id modulo 64. An event travels in every package that has
// room for it until one that carried it is acked, but not twice within resendAfter unless a package was lost.
type reliableSender struct {
	base  uint64 // oldest id not acked
	next  uint64 // id of the next event queued
	acked uint64 // bit id&63: acked, but an older one is not
	at    [MaxReliable]time.Duration
	size  [MaxReliable]uint16
	data  [MaxReliable][MaxMessageSize]byte
}

func (q *reliableSender) queue(event []byte) error {
	if len(event) == 0 || len(event) > MaxMessageSize {
		return ErrMessageSize
	}
	if q.next-q.base == MaxReliable {
		return ErrReliableFull
	}
	i := q.next % MaxReliable
	q.size[i] = uint16(copy(q.data[i][:], event))
	q.at[i] = never
	q.next++
	return nil
}

// due reports whether any event is.
func (q *reliableSender) due(now, resendAfter time.Duration) bool {
	for id := q.base; id != q.next; id++ {
		if i := id % MaxReliable; q.acked>>i&1 == 0 && now-q.at[i] >= resendAfter {
			return true
		}
	}
	return false
}

// append writes a section of the events that are due into at most budget bytes and notes them in r. Nothing when none
// is due or fits.
func (q *reliableSender) append(dst []byte, budget int, r *sentPacket, resendAfter time.Duration) []byte {
	start, count := len(dst), 0
	for id := q.base; id != q.next; id++ {
		i := id % MaxReliable
		if q.acked>>i&1 != 0 || r.at-q.at[i] < resendAfter {
			continue
		}
		need := 3 + int(q.size[i])
		if count == 0 {
			need += 2
		}
		if len(dst)-start+need > budget {
			break // the oldest first: a small one does not overtake, or the large would starve
		}
		if count == 0 {
			dst = append(dst, byte(SectionReliable), 0)
			if r.reliable == 0 {
				r.base = q.base
			}
		}
		count++
		dst[start+1] = byte(count)
		dst = append(dst, byte(id), byte(id>>8), byte(q.size[i]-1))
		dst = append(dst, q.data[i][:q.size[i]]...)
		q.at[i] = r.at
		r.reliable |= 1 << i
	}
	return dst
}

// delivered acks the events of a package and lets go of the oldest that are acked.
func (q *reliableSender) delivered(r *sentPacket) {
	for i := range setBits(r.reliable) {
		if id := r.base + (i-r.base)%MaxReliable; id >= q.base {
			q.acked |= 1 << i
		}
	}
	for q.base != q.next && q.acked>>(q.base%MaxReliable)&1 != 0 {
		q.acked &^= 1 << (q.base % MaxReliable)
		q.base++
	}
}

// lost makes the events of a package due at once, but those that a later package carries already.
func (q *reliableSender) lost(r *sentPacket) {
	for i := range setBits(r.reliable) {
		if id := r.base + (i-r.base)%MaxReliable; id >= q.base && q.at[i] == r.at {
			q.at[i] = never
		}
	}
}
