package packet

import (
	"errors"
	"time"
)

// Limits of messages.
const (
	MaxReliable    = 64  // reliable messages queued and not acked
	MaxMessageSize = 256 // bytes of a message; the least is 1
)

// Errors of QueueReliable and QueueUnreliable. They are about the caller, not about a packet.
var (
	ErrReliableFull = errors.New("packet: 64 reliable messages are not acked yet")
	ErrMessageSize  = errors.New("packet: a message has 1 to 256 bytes")
)

const never = time.Duration(-1 << 62)

// reliableSender holds the reliable messages that the peer has not acked, by id modulo 64. A
// message travels in every packet with room for it until a packet that carried it is acked, but
// not twice within resendAfter unless a packet was lost.
type reliableSender struct {
	base  uint64                      // oldest id that is not acked
	next  uint64                      // id of the next message queued
	acked uint64                      // bit id&63: acked, but an older one is not
	at    *[MaxReliable]time.Duration // when each was sent last; nil before the first
	store messageStore
}

// empty returns a sender without messages, in the same memory.
func (q *reliableSender) empty() reliableSender {
	return reliableSender{at: q.at, store: q.store.empty()}
}

// reserve makes the memory of the first message.
func (q *reliableSender) reserve() {
	if q.at == nil {
		q.at = new([MaxReliable]time.Duration)
		q.store.reserve()
	}
}

func (q *reliableSender) queue(message []byte) error {
	if len(message) == 0 || len(message) > MaxMessageSize {
		return ErrMessageSize
	}
	if q.next-q.base == MaxReliable {
		return ErrReliableFull
	}
	q.reserve()
	i := q.next % MaxReliable
	q.store.put(i, message)
	q.at[i] = never
	q.next++
	return nil
}

// due reports whether append would write a message.
func (q *reliableSender) due(now, resendAfter time.Duration) bool {
	for id := q.base; id != q.next; id++ {
		if i := id % MaxReliable; q.acked>>i&1 == 0 && now-q.at[i] >= resendAfter {
			return true
		}
	}
	return false
}

// append writes a section with the messages that are due, in at most budget bytes, and records
// them in r. It writes nothing when no message is due or fits.
func (q *reliableSender) append(dst []byte, budget int, r *sentPacket, resendAfter time.Duration) []byte {
	start, count := len(dst), 0
	for id := q.base; id != q.next; id++ {
		i := id % MaxReliable
		if q.acked>>i&1 != 0 || r.at-q.at[i] < resendAfter {
			continue
		}
		need := 3 + int(q.store.slots[i].size)
		if count == 0 {
			need += 2
		}
		if len(dst)-start+need > budget {
			break // a small message does not overtake a large one, which would starve
		}
		if count == 0 {
			dst = append(dst, byte(SectionReliable), 0)
			if r.reliable == 0 {
				r.base = uint32(q.base)
			}
		}
		count++
		dst[start+1] = byte(count)
		dst = append(dst, byte(id), byte(id>>8), byte(q.store.slots[i].size-1))
		dst = append(dst, q.store.get(i)...)
		q.at[i] = r.at
		r.reliable |= 1 << i
	}
	return dst
}

// carried returns the id of the message of slot i that a packet carried.
func (q *reliableSender) carried(r *sentPacket, i uint64) uint64 {
	base := q.base - uint64(uint32(q.base)-r.base)
	return base + (i-base)%MaxReliable
}

// delivered acks the messages of a packet and releases the oldest acked ones.
func (q *reliableSender) delivered(r *sentPacket) {
	for i := range setBits(r.reliable) {
		if q.carried(r, i) >= q.base {
			q.acked |= 1 << i
		}
	}
	for q.base != q.next && q.acked>>(q.base%MaxReliable)&1 != 0 {
		q.acked &^= 1 << (q.base % MaxReliable)
		q.store.drop(q.base % MaxReliable)
		q.base++
	}
}

// lost makes the messages of a packet due at once, unless a later packet carries them.
func (q *reliableSender) lost(r *sentPacket) {
	for i := range setBits(r.reliable) {
		if q.carried(r, i) >= q.base && q.at[i] == r.at {
			q.at[i] = never
		}
	}
}
