package netcode

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Receive takes a datagram, decrypts it in place and appends answers to out. It returns the
// payload, which lies in the datagram's memory, or nil if there is none. The error is a Drop.
func (c *Client) Receive(now time.Duration, from netip.AddrPort, datagram []byte,
	out *Outbox) (payload []byte, err error) {
	payload, why := c.receive(now, from, datagram, out)
	c.counters.count(KindOf(datagram), why)
	if why != DropNone {
		return nil, why
	}
	return payload, nil
}

func (c *Client) receive(now time.Duration, from netip.AddrPort, datagram []byte, out *Outbox) ([]byte,
	Drop) {
	if len(datagram) > 0 && datagram[0] == byte(KindPong) {
		return nil, c.pong(now, datagram)
	}
	h, why := parseHeader(datagram)
	switch {
	case why != DropNone:
		return nil, why
	case h.kind == KindResponse || h.kind == KindPath && !c.cfg.Roam:
		return nil, DropType
	case !c.started || !c.expects(now, h.kind):
		return nil, DropState
	case canonical(from) != canonical(c.Server()):
		return nil, DropSource
	}
	if h.kind.replayProtected() {
		if why := c.window.Check(h.sequence); why != DropNone {
			return nil, why
		}
	}
	if h.kind == KindPath {
		return nil, c.path(now, h, datagram, out)
	}
	body, ok := c.sealer.open(c.open, h, datagram)
	if !ok {
		return nil, DropAuth
	}
	if h.kind.replayProtected() {
		c.window.Record(h.sequence)
	}
	if !bodyFits(h.kind, len(body)) {
		return nil, DropBody
	}
	return c.handle(now, h.kind, body, out), DropNone
}

// expects reports whether the client takes a kind in its present state.
func (c *Client) expects(now time.Duration, k Kind) bool {
	switch c.state {
	case SendingRequest:
		return k == KindDenied || k == KindChallenge
	case SendingResponse:
		return k == KindDenied || k == KindKeepAlive
	case Connected:
		return k >= KindKeepAlive
	case Disconnected:
		return k == KindPayload && c.Lingering(now)
	}
	return false
}

// handle acts on a datagram that has passed every check.
func (c *Client) handle(now time.Duration, kind Kind, body []byte, out *Outbox) (payload []byte) {
	if c.state == Connected && kind != KindDisconnect {
		c.received = now
	}
	switch kind {
	case KindDenied:
		c.nextServerOr(now, ConnectionDenied)
		c.send(now, out)
	case KindChallenge:
		copy(c.answer[:], body)
		c.state, c.received, c.resendAt = SendingResponse, now, now
		c.send(now, out)
	case KindKeepAlive:
		if c.state == SendingResponse {
			c.index, c.slots = binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint32(body[4:])
			c.state, c.received = Connected, now
		}
	case KindDisconnect:
		c.state, c.endedByServer, c.endedAt = Disconnected, true, now
	case KindPayload:
		return body
	}
	return nil
}
