package netcode

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// response takes the answer to a challenge and fills a slot.
func (s *Server) response(now time.Duration, from netip.AddrPort, h header, datagram []byte, out *Outbox) (Event, Drop) {
	w, knocking := s.knocking.get(byAddress(from))
	if !knocking {
		if _, connected := s.address.get(byAddress(from)); connected {
			return Event{}, DropRespConnected // a repetition; keep-alives tell the client that it is in
		}
		return Event{}, DropUnknown
	}
	p := &s.waiting[w]
	if now >= p.until {
		s.drop(w)
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
	s.budget.proven(now, byAddress(from))
	if i, connected := s.address.get(byAddress(from)); connected && !s.replaceable(now, i, p.clientID) {
		return Event{}, DropRespConnected
	}
	i, taken := s.client.get(byNumber(p.clientID))
	if taken && !s.replaceable(now, i, p.clientID) {
		return Event{}, DropRespClient
	}
	if s.closing || s.paused || !taken && len(s.free) == 0 {
		b := s.sealer.seal(p.seal, out.bytes, KindDenied, s.global, nil)
		s.global++
		s.answer(KindDenied, b, len(datagram), from, out)
		if s.closing || s.paused {
			return Event{}, DropClosing
		}
		return Event{}, DropFull
	}
	if s.tokens.find(p.tag) == nil { // it has expired since, and its place was needed
		s.drop(w)
		return Event{}, DropTokenTable
	}
	return s.connect(now, w, i, taken, out), DropNone
}

// openChallenge decrypts the body of a response into s.asked.
func (s *Server) openChallenge(body []byte) bool {
	sequence := binary.LittleEndian.Uint64(body)
	plaintext, err := s.secret.Open(s.opened[:0], s.sealer.number(sequence), body[8:], nil)
	return err == nil && s.asked.parse(plaintext) == nil
}

// connect turns handshake w into a session: in slot i if that is taken over, else in a free one.
func (s *Server) connect(now time.Duration, w, i int, taken bool, out *Outbox) Event {
	p := &s.waiting[w]
	e := Event{Kind: EventConnected}
	if taken {
		s.forget(i)
		s.counters.Takeovers++
		e.Kind = EventTakeover
	} else {
		i = int(s.free[len(s.free)-1])
		s.free = s.free[:len(s.free)-1]
		s.client.put(byNumber(p.clientID), i)
	}
	e.Client = i
	s.slots[i] = slot{used: true, open: p.open, seal: p.seal, heard: now, timeout: p.timeout, address: p.address,
		clientID: p.clientID, tag: p.tag, expire: p.expire, rate: ratelimit.NewBurst(s.cfg.PacketsPerSecond, packetBurst)}
	s.users[i] = s.asked.userData
	s.address.put(byAddress(p.address), i)
	s.tokens.spend(p.tag) // from now on, so that no recorded handshake can open a second session under the same keys
	s.drop(w)
	s.keepAlive(now, i, out)
	s.wake[i] = now
	return e
}
