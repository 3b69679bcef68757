package packet

import (
	"math/bits"
	"time"
	"unsafe"
)

const (
	sendWindowSize = 256                    // packets remembered
	ackWindow      = 64                     // packets named by one ack
	lostAfter      = 250 * time.Millisecond // age against an arrived packet at which one is lost
)

// sentPacket is what a sendWindow remembers of one packet.
type sentPacket struct {
	at       time.Duration
	ackTag   uint64
	reliable uint64 // bit id&63: carried the reliable message id
	base     uint32 // low bits of the oldest message not acked then; ids lie in [base, base+64)
	transfer uint16 // low bits of the transfer whose fragment it carried
	fragment uint8  // index of that fragment
	state    sentState
}

// sentState is flags of a sent packet.
type sentState uint8

const (
	sentPending  sentState = 1 << iota // neither delivered nor lost
	sentTagged                         // has an ack tag
	sentFragment                       // carried a fragment
)

var _ [32]byte = [unsafe.Sizeof(sentPacket{})]byte{} // two in a cache line

func (r *sentPacket) is(s sentState) bool { return r.state&s != 0 }

// sendWindow decides whether each packet sent was delivered or lost, once.
//
// A packet is lost when it is more than 64 behind the peer's newest ack, where no ack can name
// it; or when a packet sent 250 ms later has arrived, which is sooner at low rates. Age alone
// does not make it lost: a peer that stalls and then acks everything loses nothing.
type sendWindow struct {
	newest    uint64 // highest sequence sent; 0 none
	acked     uint64 // highest sequence acked; 0 none
	ackedBits uint64 // bit n: acked-1-n acked
	oldest    uint64 // no older packet is pending
	tagsHeld  int    // ack tags set and not returned

	nDelivered int
	nLostShown int             // part of lost that Peer.Lost returns
	lost       []uint64        // result of Peer.Lost, then those of the next Receive
	transfers  *transferSender // nil until there was one
	reliable   reliableSender

	delivered [ackWindow + 1]uint64
	_         [8]byte
	packets   [sendWindowSize]sentPacket
}

// next takes the next sequence for a packet sent now. The packet that it replaces in the window
// is lost.
func (o *sendWindow) next(now time.Duration) uint64 {
	o.newest++
	r := &o.packets[o.newest%sendWindowSize]
	if o.newest >= o.oldest+sendWindowSize { // else not pending: skips a cache miss
		o.lose(r)
	}
	*r = sentPacket{at: now, state: sentPending}
	if o.newest >= sendWindowSize {
		o.oldest = max(o.oldest, o.newest-sendWindowSize+1)
	}
	return o.newest
}

// setAckTag gives the packet seq an ack tag. It reports false when the packet is resolved or
// there is no room for its tag.
func (o *sendWindow) setAckTag(seq uint16, ackTag uint64) bool {
	back := uint16(o.newest) - seq
	r := &o.packets[(o.newest-uint64(back))%sendWindowSize]
	if back >= sendWindowSize || !r.is(sentPending) || r.is(sentTagged) || o.tagsHeld == sendWindowSize {
		return false
	}
	r.ackTag = ackTag
	r.state |= sentTagged
	o.tagsHeld++
	return true
}

// clearResults forgets the ack tags that the last Receive returned.
func (o *sendWindow) clearResults() {
	o.lost = o.lost[:copy(o.lost, o.lost[o.nLostShown:])]
	o.nDelivered, o.nLostShown = 0, 0
}

// expand widens an ack and checks it with its bits. It reports false for an ack of a packet that
// was never sent.
func (o *sendWindow) expand(ack uint16, mask uint64) (uint64, bool) {
	back := uint64(uint16(o.newest) - ack)
	if back > o.newest || back >= 1<<15 {
		return 0, false
	}
	a := o.newest - back
	if a == 0 {
		return 0, mask == 0
	}
	return a, mask>>(a-1) == 0 // bit n names a-1-n, which must be at least 1
}

// applyAck applies an ack that expand returned and fills delivered and lost.
func (o *sendWindow) applyAck(a, mask uint64) {
	if a != 0 {
		o.deliver(a, mask)
	}
	for o.oldest < o.acked {
		r := &o.packets[o.oldest%sendWindowSize]
		if r.is(sentPending) && o.acked-o.oldest <= ackWindow &&
			o.packets[o.acked%sendWindowSize].at-r.at <= lostAfter {
			break // later packets were sent later still
		}
		o.lose(r)
		o.oldest++
	}
	o.nLostShown = len(o.lost)
	o.tagsHeld -= o.nDelivered + o.nLostShown
}

// deliver resolves the packets that ack a and its bits name for the first time, oldest first.
func (o *sendWindow) deliver(a, mask uint64) {
	ahead := a > o.acked
	if ahead {
		d := a - o.acked
		o.ackedBits <<= d
		if o.acked != 0 && d <= ackWindow {
			o.ackedBits |= 1 << (d - 1)
		}
		o.acked = a
	} else if d := o.acked - a; d > 0 { // an older packet that was overtaken
		mask = mask<<d | 1<<(d-1)
	}
	fresh := mask &^ o.ackedBits
	o.ackedBits |= mask
	for fresh != 0 {
		n := 63 - bits.LeadingZeros64(fresh)
		fresh &^= 1 << n
		o.resolve(o.acked - 1 - uint64(n))
	}
	if ahead {
		o.resolve(a)
	}
}

// resolve records that packet s was delivered, unless it was lost before or has left the window.
func (o *sendWindow) resolve(s uint64) {
	r := &o.packets[s%sendWindowSize]
	if o.newest-s >= sendWindowSize || !r.is(sentPending) {
		return
	}
	r.state &^= sentPending
	o.reliable.delivered(r)
	if r.is(sentFragment) {
		o.transfers.delivered(r)
	}
	if r.is(sentTagged) {
		o.delivered[o.nDelivered] = r.ackTag
		o.nDelivered++
	}
}

// lose records that a packet was lost, if it is pending.
func (o *sendWindow) lose(r *sentPacket) {
	if !r.is(sentPending) {
		return
	}
	r.state &^= sentPending
	o.reliable.lost(r)
	if r.is(sentFragment) {
		o.transfers.lost(r)
	}
	if r.is(sentTagged) {
		o.lost = append(o.lost, r.ackTag)
	}
}
