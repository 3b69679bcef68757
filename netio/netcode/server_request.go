package netcode

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"
)

// request takes a connection request:
//
//	1     0
//	13    version
//	8     protocol id
//	8     expire time of the token
//	24    nonce of the token
//	1024  sealed private token
//
// The checks have the order of the standard; comparisons come before cryptography. A member of a
// group refuses a used token before it asks for a place: replays are as cheap as with one server.
func (s *Server) request(now time.Duration, unix int64, from netip.AddrPort, datagram []byte,
	out *Outbox) (Event, Drop) {
	clock := uint64(max(0, unix))
	expire, why := s.checkRequest(clock, datagram)
	if why != DropNone {
		return Event{}, why
	}
	if why := s.budget.admit(now, addressKey(from), s.rng); why != DropNone {
		return Event{}, why
	}
	if why := s.openToken(datagram, expire); why != DropNone {
		return Event{}, why
	}
	tag := TokenTag(datagram[requestSize-tagSize:])
	taken, why := s.checkClient(now, clock, from, tag, expire)
	if why != DropNone {
		return Event{}, why
	}
	if e := s.placed(from, tag); e.Kind == EventElsewhere {
		return e, DropNone
	}
	return Event{}, s.knock(now, &tokenRequest{from, datagram, tag, expire, taken}, out)
}

// tokenRequest is a request whose token was opened and may have a session.
type tokenRequest struct {
	from     netip.AddrPort
	datagram []byte
	tag      TokenTag
	expire   uint64 // Unix seconds: the end of the token
	taken    bool   // the session would take over a slot
}

// checkRequest compares what a request says in the clear, and returns the expire time of its token.
func (s *Server) checkRequest(clock uint64, datagram []byte) (expire uint64, why Drop) {
	if len(datagram) != requestSize {
		return 0, DropReqSize
	}
	if string(datagram[1:14]) != version {
		return 0, DropReqVersion
	}
	if binary.LittleEndian.Uint64(datagram[14:]) != s.cfg.ProtocolID {
		return 0, DropReqProtocol
	}
	expire = binary.LittleEndian.Uint64(datagram[22:])
	return expire, s.checkTimes(clock, expire)
}

// placed asks which member of the group is to have the session of s.token. A handshake that this
// server has begun with it goes on there.
func (s *Server) placed(from netip.AddrPort, tag TokenTag) (e Event) {
	if s.group.Place == nil {
		return e
	}
	member := s.group.Place(s.token.ClientID, &s.token.UserData)
	if member == Here {
		return e
	}
	if w, knocking := s.handshakeAt.get(addressKey(from)); knocking && s.handshakes[w].token == tag {
		s.dropHandshake(w)
	}
	return Event{Kind: EventElsewhere, Client: member}
}

// knock begins a handshake with s.token, or repeats its challenge.
func (s *Server) knock(now time.Duration, r *tokenRequest, out *Outbox) Drop {
	if s.stopped || s.paused || !r.taken && len(s.freeSlots) == 0 {
		s.deny(r.from, r.datagram, out)
		if s.stopped || s.paused {
			return DropClosing
		}
		return DropFull
	}
	p := s.beginHandshake(now, r.from, r.tag, r.expire)
	if p == nil {
		return DropPending
	}
	s.challenge(p, r.datagram, out)
	return DropNone
}

// checkTimes compares a token's expire time with the wall clock. A request does not carry the
// time at which its token was issued, so that follows from TokenLifetime. A token issued in the
// second of the start may be older than the start. A token that seems to be issued in the future,
// by a backend whose clock is ahead, must wait until our clock is there: a server that starts in
// the meantime would take it a second time.
func (s *Server) checkTimes(clock, expire uint64) Drop {
	if expire <= clock {
		return DropReqExpired
	}
	if s.cfg.TokenLifetime == 0 {
		return DropNone
	}
	lifetime := uint64(s.cfg.TokenLifetime / time.Second)
	if expire < lifetime || expire-lifetime <= uint64(max(0, s.cfg.StartUnix)) {
		return DropReqStart
	}
	if expire-clock > lifetime {
		return DropReqLifetime
	}
	return DropNone
}

// openToken decrypts the private token of a request into s.token and checks that it names this
// server.
func (s *Server) openToken(datagram []byte, expire uint64) Drop {
	data := privateData(s.tokenData[:0], s.cfg.ProtocolID, expire)
	plaintext, err := s.private.Open(s.opened[:0], datagram[30:54], datagram[54:], data)
	if err != nil {
		return DropReqToken
	}
	if s.token.Parse(plaintext) != nil {
		return DropReqContent
	}
	for _, a := range s.token.Servers[:s.token.NumServers] {
		if slices.Contains(s.cfg.Addresses, canonical(a)) {
			return DropNone
		}
	}
	return DropReqAddress
}

// checkClient reports whether the client of an opened token may go on from an address, and
// whether it takes over a slot. It remembers a new token and its address.
func (s *Server) checkClient(now time.Duration, clock uint64, from netip.AddrPort, tag TokenTag,
	expire uint64) (taken bool, why Drop) {
	if i, connected := s.slotAt.get(addressKey(from)); connected && !s.canTakeOver(now, i, s.token.ClientID) {
		return false, DropReqConnected
	}
	i, taken := s.slotOfClient.get(numberKey(s.token.ClientID))
	if taken && !s.canTakeOver(now, i, s.token.ClientID) {
		return false, DropReqClient
	}
	return taken, s.tokens.see(tag, canonical(from), expire, clock)
}

// beginHandshake keeps the keys of s.token for an address, in the place of older ones; nil when
// there is no room. A repeated token keeps its ciphers.
func (s *Server) beginHandshake(now time.Duration, from netip.AddrPort, tag TokenTag,
	expire uint64) *handshake {
	p := s.place(from)
	if p == nil {
		return nil
	}
	if p.token != tag || p.open == nil {
		p.open, p.seal = packetAEAD(&s.token.ClientToServer), packetAEAD(&s.token.ServerToClient)
	}
	timeout, life := timeoutDuration(s.token.TimeoutSeconds), handshakeLife
	if timeout > 0 {
		life = min(life, timeout)
	}
	*p = handshake{used: true, address: from, open: p.open, seal: p.seal, clientID: s.token.ClientID,
		timeout: timeout,
		until:   now + life, token: tag, expire: expire}
	return p
}

// challenge asks an address to prove that it receives. Body: 8 sequence of the challenge, 300
// sealed challenge token.
func (s *Server) challenge(p *handshake, request []byte, out *Outbox) {
	s.echoed.clientID, s.echoed.userData = s.token.ClientID, s.token.UserData
	plaintext := s.echoed.append(s.opened[:0])
	body := binary.LittleEndian.AppendUint64(s.sealer.body[:0], s.challengeSequence)
	body = s.challengeAEAD.Seal(body, s.sealer.nonceOf(s.challengeSequence), plaintext, nil)
	s.challengeSequence++
	b := s.sealer.seal(p.seal, out.bytes, KindChallenge, s.globalSequence, body)
	s.globalSequence++
	s.answer(KindChallenge, b, len(request), p.address, out)
}

// deny tells the client of s.token that there is no slot.
func (s *Server) deny(from netip.AddrPort, request []byte, out *Outbox) {
	b := s.sealer.seal(packetAEAD(&s.token.ServerToClient), out.bytes, KindDenied, s.globalSequence, nil)
	s.globalSequence++
	s.answer(KindDenied, b, len(request), from, out)
}

// answer sends what was appended to out.bytes to an unproven address, unless it is too long
// compared with what came from there.
func (s *Server) answer(kind Kind, b []byte, received int, to netip.AddrPort, out *Outbox) {
	if float64(len(b)-len(out.bytes)) > amplification*float64(received) {
		s.counters.Amplification++
		return
	}
	out.commit(b, to)
	s.counters.Sent[kind]++
}
