package packet

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

const (
	sendWindowSize = 256                    // packages remembered
	ackWindow      = 64                     // how far behind its newest ack a peer can still speak of a package
	lostAfter      = 250 * time.Millisecond // a package sent this much before one that arrived is lost
)

// sentPacket is what is remembered of one package.
type sentPacket struct {
	at       time.Duration
	ackTag   uint64
	reliable uint64 // bit id&63 set: carried event id
	base     uint64 // oldest event unacked then; events lie in [base, base+64)
	transfer uint16 // low bits of the id of the blob of which it carried a fragment
	fragment uint16 // 1 + the fragment's index; 0 none
	pending  bool   // not yet resolved
	tagged   bool   // has a cookie
}

// sendWindow decides what became of each package sent: delivered or lost, once.
//
// A package is lost when the peer's newest ack has left it more than 64 behind, where no ack can speak of it any more; or, at
// the slow rates at which that takes seconds, when one sent 250 ms later has arrived. It is never lost merely for
// being old: a peer that stalls and then acks everything loses nothing.
type sendWindow struct {
	newest    uint64 // highest sequence sent; 0 none
	acked     uint64 // highest sequence acked; 0 none
	ackedBits uint64 // bit n: acked-1-n acked
	oldest    uint64 // no older package is open
	tagsHeld  int    // cookies taken and not yet shown

	nDelivered int
	nLost      int
	nLostShown int             // of lost
	transfers  *transferSender // nil until there was one
	reliable   reliableSender

	delivered [ackWindow + 1]uint64
	packets   [sendWindowSize]sentPacket
	lost      [2 * sendWindowSize]uint64 // first those being shown, then those that wait for the next receipt
}

// next takes the next sequence for a package sent now. What the ring has no room for any more is lost.
func (o *sendWindow) next(now time.Duration) uint64 {
	o.newest++
	r := &o.packets[o.newest%sendWindowSize]
	if o.newest >= o.oldest+sendWindowSize { // else it is not open, and it need not be fetched to see that
		o.lose(r)
	}
	*r = sentPacket{at: now, pending: true}
	if o.newest >= sendWindowSize {
		o.oldest = max(o.oldest, o.newest-sendWindowSize+1)
	}
	return o.newest
}

// setAckTag gives the package seq a cookie. False when the package is no longer open or there is no room for its cookie.
func (o *sendWindow) setAckTag(seq uint16, cookie uint64) bool {
	back := uint16(o.newest) - seq
	r := &o.packets[(o.newest-uint64(back))%sendWindowSize]
	if back >= sendWindowSize || !r.pending || r.tagged || o.tagsHeld == sendWindowSize {
		return false
	}
	r.ackTag, r.tagged = cookie, true
	o.tagsHeld++
	return true
}

// clearResults forgets the cookies that were shown.
func (o *sendWindow) clearResults() {
	o.nLost = copy(o.lost[:], o.lost[o.nLostShown:o.nLost])
	o.nDelivered, o.nLostShown = 0, 0
}

// expand widens an ack and checks it with its bits: false when it names what was never sent.
func (o *sendWindow) expand(ack uint16, mask uint64) (uint64, bool) {
	back := uint64(uint16(o.newest) - ack)
	if planted.On(planted.AckUnchecked) && back >= 1<<15 {
		return o.newest, true
	}
	if back > o.newest || back >= 1<<15 {
		return 0, false
	}
	a := o.newest - back
	if a == 0 {
		return 0, mask == 0
	}
	return a, mask>>(a-1) == 0 // bit n names a-1-n, which must be at least 1
}

// applyAck applies an ack that expand gave and fills delivered and lost.
func (o *sendWindow) applyAck(a, mask uint64) {
	if a != 0 {
		o.deliver(a, mask)
	}
	for o.oldest < o.acked {
		r := &o.packets[o.oldest%sendWindowSize]
		if r.pending && o.acked-o.oldest <= ackWindow && o.packets[o.acked%sendWindowSize].at-r.at <= lostAfter {
			break // those after it were sent later still
		}
		o.lose(r)
		o.oldest++
	}
	o.nLostShown = o.nLost
	o.tagsHeld -= o.nDelivered + o.nLostShown
}

// deliver resolves what ack a and its bits say for the first time, oldest first.
func (o *sendWindow) deliver(a, mask uint64) {
	ahead := a > o.acked
	if ahead {
		d := a - o.acked
		o.ackedBits <<= d
		if o.acked != 0 && d <= ackWindow {
			o.ackedBits |= 1 << (d - 1)
		}
		o.acked = a
	} else if d := o.acked - a; d > 0 { // an older package, overtaken on its way
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

// resolve notes that package s was delivered, unless it was lost before or is too old to be remembered.
func (o *sendWindow) resolve(s uint64) {
	r := &o.packets[s%sendWindowSize]
	if o.newest-s >= sendWindowSize || !r.pending {
		return
	}
	r.pending = false
	o.reliable.delivered(r)
	if r.fragment != 0 {
		o.transfers.delivered(r)
	}
	if r.tagged {
		o.delivered[o.nDelivered] = r.ackTag
		o.nDelivered++
	}
}

// lose notes that a package was lost, if it is open.
func (o *sendWindow) lose(r *sentPacket) {
	if !r.pending {
		return
	}
	r.pending = false
	if planted.On(planted.EventForgotten) {
		o.reliable.delivered(r)
	}
	o.reliable.lost(r)
	if r.fragment != 0 {
		o.transfers.lost(r)
	}
	if r.tagged {
		o.lost[o.nLost] = r.ackTag
		o.nLost++
	}
}
