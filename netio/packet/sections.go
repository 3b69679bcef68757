package packet

import (
	"time"
)

// QueueReliable takes an event of 1 to MaxMessageSize bytes, which is copied. The peer gets every event once and in this order, or the
// session ends. The error is ErrReliableFull or ErrMessageSize.
func (p *Peer) QueueReliable(event []byte) error { return p.out.reliable.queue(event) }

// ReliableDue reports whether AppendEvents would write something now, given room.
func (p *Peer) ReliableDue(now time.Duration) bool { return p.out.reliable.due(now, p.resendAfter()) }

// ReliablePending returns how many events are not acked yet.
func (p *Peer) ReliablePending() int { return int(p.out.reliable.next - p.out.reliable.base) }

// AppendReliable adds an Events section with the events that are due to the package that Append began last, in at most
// budget bytes. It adds nothing when there are none.
func (p *Peer) AppendReliable(dst []byte, budget int) []byte {
	q := &p.out.reliable
	if q.base == q.next || p.out.newest == 0 {
		return dst
	}
	return q.append(dst, budget, &p.out.packets[p.out.newest%sendWindowSize], p.resendAfter())
}

// resendAfter is when an ack for an event is overdue: the path, four times its jitter (RFC 6298), and the time for which a
// peer that sends at 20 Hz holds an ack.
func (p *Peer) resendAfter() time.Duration {
	if p.rtt.samples == 0 {
		return 250 * time.Millisecond
	}
	r := p.rtt.rtt
	return min(r.Smoothed+4*r.Var+50*time.Millisecond, time.Second)
}

// Sections reads the sections of a package that are the peer's own, as Receive returned them: events, notes, a fragment, a
// close. It returns what follows them. The error is a Drop; then the section that it names was not taken, but those
// before it were. Drain NextEvent, NextNote and NextBlob after every call, and then ask Closed.
func (p *Peer) Sections(sections []byte) (rest []byte, err error) {
	rest = sections
	p.unreliable.at, p.unreliable.nIn, p.transferIn.done = 0, 0, 0
	if SectionOf(rest) == SectionReliable {
		rest, err = p.reliableIn.parse(rest)
	}
	if err == nil && SectionOf(rest) == SectionUnreliable {
		rest, err = p.unreliable.parse(rest)
	}
	if err == nil && SectionOf(rest) == SectionFragment {
		rest, err = p.transferIn.parse(p.received, rest)
	}
	if err == nil && SectionOf(rest) == SectionClose {
		rest, err = p.parseClose(rest)
	}
	if err != nil {
		return nil, err
	}
	return rest, nil
}

// ParseEvents reads the Events section at the front of a package's sections, its section byte included, and returns what follows
// it. The error is DropMessage; then no event of the section was taken. Drain NextEvent after every call: the queue has
// no room for more than the peer may have under way.
func (p *Peer) ParseEvents(section []byte) (rest []byte, err error) {
	return p.reliableIn.parse(section)
}

// NextReliable returns the next event, in the order in which the peer queued them. It is the peer's memory, valid until the
// next ParseEvents.
func (p *Peer) NextReliable() ([]byte, bool) { return p.reliableIn.pop() }
