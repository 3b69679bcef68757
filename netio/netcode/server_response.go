package netcode

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// response takes the answer to a challenge and fills a slot.
func (s *Server) response(now time.Duration, from netip.AddrPort, h header, datagram []byte,
	out *Outbox) (Event, Drop) {
	w, knocking := s.handshakeAt.get(addressKey(from))
	if !knocking {
		if e, ok := s.group.elsewhere(IndexHandshake, addressKey(from)); ok {
			return e, DropNone
		}
		if _, connected := s.slotAt.get(addressKey(from)); connected {
			return Event{}, DropRespConnected // a repeat; keep-alives answer it
		}
		if e, ok := s.group.elsewhere(IndexAddress, addressKey(from)); ok {
			return e, DropNone
		}
		return Event{}, DropUnknown
	}
	p := &s.handshakes[w]
	if now >= p.until {
		s.dropHandshake(w)
		return Event{}, DropUnknown
	}
	body, ok := s.sealer.open(p.open, h, datagram)
	if !ok {
		return Event{}, DropAuth
	}
	if !bodyFits(KindResponse, len(body)) {
		return Event{}, DropBody
	}
	// else it answers the challenge of another token
	if !s.openChallenge(body) || s.echoed.clientID != p.clientID {
		return Event{}, DropRespToken
	}
	s.budget.markProven(now, addressKey(from))
	if i, connected := s.slotAt.get(addressKey(from)); connected && !s.canTakeOver(now, i, p.clientID) {
		return Event{}, DropRespConnected
	}
	i, taken := s.slotOfClient.get(numberKey(p.clientID))
	if taken && !s.canTakeOver(now, i, p.clientID) {
		return Event{}, DropRespClient
	}
	if s.stopped || s.paused || !taken && len(s.freeSlots) == 0 {
		b := s.sealer.seal(p.seal, out.bytes, KindDenied, s.globalSequence, nil)
		s.globalSequence++
		s.answer(KindDenied, b, len(datagram), from, out)
		if s.stopped || s.paused {
			return Event{}, DropClosing
		}
		return Event{}, DropFull
	}
	if why := s.claim(from, p.clientID); why != DropNone {
		return Event{}, why
	}
	// from now on no recorded handshake can open a second session under the same keys
	if why := s.tokens.use(p.token); why != DropNone {
		s.unclaim(from, p.clientID)
		s.dropHandshake(w)
		return Event{}, why
	}
	return s.connect(now, w, i, out), DropNone
}

// openChallenge decrypts the body of a response into s.echoed.
func (s *Server) openChallenge(body []byte) bool {
	sequence := binary.LittleEndian.Uint64(body)
	plaintext, err := s.challengeAEAD.Open(s.opened[:0], s.sealer.nonceOf(sequence), body[8:], nil)
	return err == nil && s.echoed.parse(plaintext) == nil
}

// connect turns handshake w into a session: in slot i, which is taken over, or in a free slot if
// i is negative.
func (s *Server) connect(now time.Duration, w, i int, out *Outbox) Event {
	p := &s.handshakes[w]
	e := Event{Kind: EventConnected}
	if i >= 0 {
		s.unindex(i)
		s.counters.Takeovers++
		e.Kind = EventTakeover
	} else {
		i = int(s.freeSlots[len(s.freeSlots)-1])
		s.freeSlots = s.freeSlots[:len(s.freeSlots)-1]
		s.slotOfClient.put(numberKey(p.clientID), i)
	}
	e.Client = i
	s.slots[i] = slot{used: true, open: p.open, seal: p.seal, received: now, timeout: p.timeout,
		address:  p.address,
		clientID: p.clientID, token: p.token, expire: p.expire}
	s.slots[i].flood.bucket = ratelimit.NewBurst(s.cfg.PacketsPerSecond, packetBurst)
	s.userData[i] = s.echoed.userData
	s.slotAt.put(addressKey(p.address), i)
	s.dropHandshake(w)
	s.keepAlive(now, i, out)
	s.updateAt[i] = now
	return e
}
