package packet

import (
	"time"
)

// QueueReliable copies a message of 1 to MaxMessageSize bytes. The peer gets every message once
// and in order, or the session ends. The error is ErrReliableFull or ErrMessageSize.
func (p *Peer) QueueReliable(message []byte) error { return p.out.reliable.queue(message) }

// ReliableDue reports whether AppendReliable would write a message now, given room.
func (p *Peer) ReliableDue(now time.Duration) bool { return p.out.reliable.due(now, p.resendAfter()) }

// ReliablePending returns the number of reliable messages that are not acked.
func (p *Peer) ReliablePending() int { return int(p.out.reliable.next - p.out.reliable.base) }

// AppendReliable adds the reliable messages that are due to the packet that Append began last, in
// at most budget bytes. It writes nothing when there are none.
func (p *Peer) AppendReliable(dst []byte, budget int) []byte {
	q := &p.out.reliable
	if q.base == q.next || p.out.newest == 0 {
		return dst
	}
	return q.append(dst, budget, &p.out.packets[p.out.newest%sendWindowSize], p.resendAfter())
}

// resendAfter returns when an ack for a message is overdue: the round trip, four times its
// deviation (RFC 6298), and the time for which a peer that sends at 20 Hz holds an ack.
func (p *Peer) resendAfter() time.Duration {
	if p.rtt.samples == 0 {
		return 250 * time.Millisecond
	}
	r := p.rtt.rtt
	return min(r.Smoothed+4*r.Var+50*time.Millisecond, time.Second)
}

// Sections reads the peer's own sections of a packet, as Receive returned them: messages, a
// fragment, a close. It returns what follows them. The error is a Drop; then the section that it
// names was not taken, but those before it were. After every call drain NextReliable,
// NextUnreliable and NextTransfer, then ask Closed.
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

// NextReliable returns the next reliable message, in the order in which the peer queued them. The
// slice is valid until the next Sections.
func (p *Peer) NextReliable() ([]byte, bool) { return p.reliableIn.pop() }
