package packet

import (
	"math/bits"
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

const (
	outboxSize = 256                    // packages remembered
	ackWindow  = 64                     // how far behind its newest ack a peer can still speak of a package
	lateBy     = 250 * time.Millisecond // a package sent this much before one that arrived is lost
)

// sent is what is remembered of one package.
type sent struct {
	at     time.Duration
	cookie uint64
	events uint64 // bit id&63 set: carried event id
	base   uint64 // oldest event unacked then; events lie in [base, base+64)
	blob   uint16 // low bits of the id of the blob of which it carried a fragment
	piece  uint16 // 1 + the fragment's index; 0 none
	open   bool   // not yet resolved
	marked bool   // has a cookie
}

// outbox decides what became of each package sent: delivered or lost, once.
//
// A package is lost when the peer's newest ack has left it more than 64 behind, where no ack can speak of it any more; or, at
// the slow rates at which that takes seconds, when one sent 250 ms later has arrived. It is never lost merely for
// being old: a peer that stalls and then acks everything loses nothing.
type outbox struct {
	newest uint64 // highest sequence sent; 0 none
	acked  uint64 // highest sequence acked; 0 none
	known  uint64 // bit n: acked-1-n acked
	oldest uint64 // no older package is open
	held   int    // cookies taken and not yet shown

	nDelivered int
	nLost      int
	nShown     int       // of lost
	blobs      *blobsOut // nil until there was one
	events     outgoing

	delivered [ackWindow + 1]uint64
	ring      [outboxSize]sent
	lost      [2 * outboxSize]uint64 // first those being shown, then those that wait for the next receipt
}

// open takes the next sequence for a package sent now. What the ring has no room for any more is lost.
func (o *outbox) open(now time.Duration) uint64 {
	o.newest++
	r := &o.ring[o.newest%outboxSize]
	if o.newest >= o.oldest+outboxSize { // else it is not open, and it need not be fetched to see that
		o.lose(r)
	}
	*r = sent{at: now, open: true}
	if o.newest >= outboxSize {
		o.oldest = max(o.oldest, o.newest-outboxSize+1)
	}
	return o.newest
}

// mark gives the package seq a cookie. False when the package is no longer open or there is no room for its cookie.
func (o *outbox) mark(seq uint16, cookie uint64) bool {
	back := uint16(o.newest) - seq
	r := &o.ring[(o.newest-uint64(back))%outboxSize]
	if back >= outboxSize || !r.open || r.marked || o.held == outboxSize {
		return false
	}
	r.cookie, r.marked = cookie, true
	o.held++
	return true
}

// begin forgets the cookies that were shown.
func (o *outbox) begin() {
	o.nLost = copy(o.lost[:], o.lost[o.nShown:o.nLost])
	o.nDelivered, o.nShown = 0, 0
}

// expand widens an ack and checks it with its bits: false when it names what was never sent.
func (o *outbox) expand(ack uint16, mask uint64) (uint64, bool) {
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

// take applies an ack that expand gave and fills delivered and lost.
func (o *outbox) take(a, mask uint64) {
	if a != 0 {
		o.deliver(a, mask)
	}
	for o.oldest < o.acked {
		r := &o.ring[o.oldest%outboxSize]
		if r.open && o.acked-o.oldest <= ackWindow && o.ring[o.acked%outboxSize].at-r.at <= lateBy {
			break // those after it were sent later still
		}
		o.lose(r)
		o.oldest++
	}
	o.nShown = o.nLost
	o.held -= o.nDelivered + o.nShown
}

// deliver resolves what ack a and its bits say for the first time, oldest first.
func (o *outbox) deliver(a, mask uint64) {
	ahead := a > o.acked
	if ahead {
		d := a - o.acked
		o.known <<= d
		if o.acked != 0 && d <= ackWindow {
			o.known |= 1 << (d - 1)
		}
		o.acked = a
	} else if d := o.acked - a; d > 0 { // an older package, overtaken on its way
		mask = mask<<d | 1<<(d-1)
	}
	fresh := mask &^ o.known
	o.known |= mask
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
func (o *outbox) resolve(s uint64) {
	r := &o.ring[s%outboxSize]
	if o.newest-s >= outboxSize || !r.open {
		return
	}
	r.open = false
	o.events.delivered(r)
	if r.piece != 0 {
		o.blobs.delivered(r)
	}
	if r.marked {
		o.delivered[o.nDelivered] = r.cookie
		o.nDelivered++
	}
}

// lose notes that a package was lost, if it is open.
func (o *outbox) lose(r *sent) {
	if !r.open {
		return
	}
	r.open = false
	if planted.On(planted.EventForgotten) {
		o.events.delivered(r)
	}
	o.events.lost(r)
	if r.piece != 0 {
		o.blobs.lost(r)
	}
	if r.marked {
		o.lost[o.nLost] = r.cookie
		o.nLost++
	}
}
