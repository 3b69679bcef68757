package netcode

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// response takes the answer to a challenge and fills a slot.
func (s *Server) response(now time.Duration, from netip.AddrPort, h header, datagram []byte, out *Outbox) (Event, Drop) {
	w, knocking := s.handshakeAt.get(addressKey(from))
	if !knocking {
		if _, connected := s.slotAt.get(addressKey(from)); connected {
			return Event{}, DropRespConnected // a repetition; keep-alives tell the client that it is in
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
	if !s.openChallenge(body) || s.asked.clientID != p.clientID { // or it answers the challenge of another token
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
	if s.tokens.find(p.tag) == nil { // it has expired since, and its place was needed
		s.dropHandshake(w)
		return Event{}, DropTokenTable
	}
	return s.connect(now, w, i, taken, out), DropNone
}

// openChallenge decrypts the body of a response into s.asked.
func (s *Server) openChallenge(body []byte) bool {
	sequence := binary.LittleEndian.Uint64(body)
	plaintext, err := s.secret.Open(s.opened[:0], s.sealer.nonceOf(sequence), body[8:], nil)
	return err == nil && s.asked.parse(plaintext) == nil
}

// connect turns handshake w into a session: in slot i if that is taken over, else in a free one.
func (s *Server) connect(now time.Duration, w, i int, taken bool, out *Outbox) Event {
	p := &s.handshakes[w]
	e := Event{Kind: EventConnected}
	if taken {
		s.unindex(i)
		s.counters.Takeovers++
		e.Kind = EventTakeover
	} else {
		i = int(s.freeSlots[len(s.freeSlots)-1])
		s.freeSlots = s.freeSlots[:len(s.freeSlots)-1]
		s.slotOfClient.put(numberKey(p.clientID), i)
	}
	e.Client = i
	s.slots[i] = slot{used: true, open: p.open, seal: p.seal, received: now, timeout: p.timeout, address: p.address,
		clientID: p.clientID, tag: p.tag, expire: p.expire, rate: ratelimit.NewBurst(s.cfg.PacketsPerSecond, packetBurst)}
	s.userData[i] = s.asked.userData
	s.slotAt.put(addressKey(p.address), i)
	s.tokens.markUsed(p.tag) // from now on, so that no recorded handshake can open a second session under the same keys
	s.dropHandshake(w)
	s.keepAlive(now, i, out)
	s.updateAt[i] = now
	return e
}
