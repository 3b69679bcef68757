package netcode

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"time"
)

// ErrNoSession: the slot has no session.
var ErrNoSession = errors.New("netcode: no session")

// ErrPayload: a payload has 1 to MaxPayload bytes.
var ErrPayload = errors.New("netcode: payload of 0 or more than 1200 bytes")

// ErrExhausted: the session has used up its sequences and is about to end.
var ErrExhausted = errors.New("netcode: sequences used up")

// Server lets clients in and keeps their sessions. Every datagram goes to Receive, and Update is
// called at least every 50 ms. Nothing on these paths allocates, but for the two ciphers of a
// token that is seen for the first time.
//
// Times are durations since any instant that stays the same; unix is the wall clock, to which
// only tokens are compared.
type Server struct {
	cfg ServerConfig
	rng *rand.ChaCha8
	serverCrypto
	slotTable
	handshakeTable
	clock    clock
	tokens   *UsedTokens
	group    Group
	budget   *budget
	pings    *pingBudget
	stopped  bool // StopAccepting
	paused   bool // PauseAccepting
	counters Counters
	events   []Event // of the last Update
}

// NewServer returns a server without clients.
func NewServer(c ServerConfig) (*Server, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	rng := rand.NewChaCha8(c.memberEntropy())
	seed := [2]uint64{rng.Uint64(), rng.Uint64()}
	s := &Server{
		cfg: c, rng: rng, group: c.Group, serverCrypto: newServerCrypto(&c, rng),
		slotTable: newSlotTable(c.Clients, seed), handshakeTable: newHandshakeTable(c.MaxHandshakes, seed),
		budget: newBudget(c.HandshakesPerSecond, c.HandshakesPerNetwork, seed),
		pings:  newPingBudget(seed),
		events: make([]Event, 0, c.Clients),
	}
	s.slotAt.shared = mirror{c.Group.Index, IndexAddress, c.Group.Member}
	s.handshakeAt.shared = mirror{c.Group.Index, IndexHandshake, c.Group.Member}
	s.slotOfClient.shared = mirror{c.Group.Index, IndexClient, c.Group.Member}
	s.slotOfPath.shared = mirror{c.Group.Index, IndexPath, c.Group.Member}
	s.cfg.Addresses = make([]netip.AddrPort, len(c.Addresses))
	for i, a := range c.Addresses {
		s.cfg.Addresses[i] = canonical(a)
	}
	if s.tokens = c.Tokens; s.tokens == nil {
		s.tokens, err = newUsedTokens(c.MaxTokens, seed, c.Journal, uint64(max(0, c.StartUnix)))
	}
	return s, err
}

const never = time.Duration(math.MaxInt64)

// Receive takes a datagram that came from an address, decrypts it in place, appends answers to
// out and returns what happened. The error is a Drop; then there is no event, and the session, if
// there is one, goes on. Of a batch, give it the datagrams first for which IsHandshake is false.
func (s *Server) Receive(now time.Duration, unix int64, from netip.AddrPort, datagram []byte,
	out *Outbox) (Event, error) {
	s.clock.observe(now, unix, &s.counters)
	e, why := s.receive(now, unix, from, datagram, out)
	if e.Kind == EventElsewhere {
		return e, nil
	}
	s.counters.count(KindOf(datagram), why)
	if why != DropNone {
		return Event{}, why
	}
	return e, nil
}

func (s *Server) receive(now time.Duration, unix int64, from netip.AddrPort, datagram []byte,
	out *Outbox) (Event, Drop) {
	if len(datagram) == 0 || len(datagram) > maxReceived || !from.IsValid() {
		return Event{}, DropSize
	}
	if datagram[0] == byte(KindRequest) {
		return s.request(now, unix, from, datagram, out)
	}
	if datagram[0] == byte(KindPing) {
		return Event{}, s.ping(now, from, datagram, out)
	}
	h, why := parseHeader(datagram)
	if why != DropNone {
		return Event{}, why
	}
	switch h.kind {
	case KindDenied, KindChallenge:
		return Event{}, DropType
	case KindResponse:
		return s.response(now, from, h, datagram, out)
	case KindPath:
		return s.path(now, from, h, datagram, out)
	}
	i, known := s.slotAt.get(addressKey(from))
	if !known {
		return s.unknownSource(from)
	}
	return s.session(now, i, h, datagram)
}

// unknownSource returns where a sealed datagram from an address without session belongs, or why it
// is dropped.
func (s *Server) unknownSource(from netip.AddrPort) (Event, Drop) {
	if e, ok := s.group.elsewhere(IndexAddress, addressKey(from)); ok {
		return e, DropNone
	}
	if _, knocking := s.handshakeAt.get(addressKey(from)); knocking {
		return Event{}, DropState
	}
	return Event{}, DropUnknown
}

// session takes a keep-alive, payload or disconnect from the address of slot i.
func (s *Server) session(now time.Duration, i int, h header, datagram []byte) (Event, Drop) {
	c := &s.slots[i]
	if why := c.window.Check(h.sequence); why != DropNone {
		return Event{}, why
	}
	body, ok := s.sealer.open(c.open, h, datagram)
	if !ok {
		s.countAuthFailure(now, c)
		return Event{}, DropAuth
	}
	c.window.Record(h.sequence)
	if !bodyFits(h.kind, len(body)) {
		return Event{}, DropBody
	}
	if h.kind == KindDisconnect { // is never one too many
		s.freeSlot(i)
		return Event{Kind: EventDisconnect, Client: i}, DropNone
	}
	c.received = now
	if e, why := s.charge(now, i); why != DropNone || e.Kind != EventNone {
		return e, why
	}
	c.confirmed = true
	if h.kind == KindKeepAlive {
		return Event{}, DropNone
	}
	return Event{Kind: EventPayload, Client: i, Payload: body}, DropNone
}

// charge counts a datagram against its session's rate. It returns a drop for one too many, and an
// EventKick once for a session that floods.
func (s *Server) charge(now time.Duration, i int) (Event, Drop) {
	if s.cfg.PacketsPerSecond == 0 {
		return Event{}, DropNone
	}
	kick, why := s.slots[i].flood.add(now, s.cfg.PacketsPerSecond)
	if !kick {
		return Event{}, why
	}
	s.counters.Kicks++
	s.updateAt[i] = now
	return Event{Kind: EventKick, Client: i}, DropNone
}

// Seal appends a payload for a client to dst as one datagram, at most MaxDatagram bytes. The
// payload must not overlap the room behind dst. While the client's session is not Confirmed, use
// Send.
func (s *Server) Seal(now time.Duration, client int, payload, dst []byte) ([]byte, error) {
	if client < 0 || client >= len(s.slots) || !s.slots[client].used {
		return dst, ErrNoSession
	}
	if len(payload) < 1 || len(payload) > MaxPayload {
		return dst, ErrPayload
	}
	c := &s.slots[client]
	if c.sequence >= sequenceLimit-disconnectRepeats {
		return dst, ErrExhausted
	}
	return s.seal(now, c, KindPayload, payload, dst), nil
}

// Send appends a payload for a client to out. Until a datagram from the client proves that it
// knows of its session, a keep-alive goes before every payload.
func (s *Server) Send(now time.Duration, client int, payload []byte, out *Outbox) error {
	if client >= 0 && client < len(s.slots) && s.slots[client].used && !s.slots[client].confirmed &&
		len(payload) >= 1 && len(payload) <= MaxPayload {
		s.keepAlive(now, client, out)
	}
	b, err := s.Seal(now, client, payload, out.bytes)
	if err == nil {
		out.commit(b, s.slots[client].address)
	}
	return err
}

// seal appends the next datagram of a session to dst.
func (s *Server) seal(now time.Duration, c *slot, kind Kind, body, dst []byte) []byte {
	dst = s.sealer.seal(c.seal, dst, kind, c.sequence, body)
	c.sequence++
	c.sent = now
	s.counters.Sent[kind]++
	return dst
}

// keepAlive sends a client its index and the number of slots.
func (s *Server) keepAlive(now time.Duration, i int, out *Outbox) {
	s.keepAliveOf(now, &s.slots[i], i, out)
}

// keepAliveOf is keepAlive for a session that may have no slot.
func (s *Server) keepAliveOf(now time.Duration, c *slot, i int, out *Outbox) {
	body := binary.LittleEndian.AppendUint32(s.sealer.body[:0], uint32(i))
	body = binary.LittleEndian.AppendUint32(body, uint32(len(s.slots)))
	out.commit(s.seal(now, c, KindKeepAlive, body, out.bytes), c.address)
}

// Disconnect ends a session and sends its client ten disconnects.
func (s *Server) Disconnect(now time.Duration, client int, out *Outbox) error {
	if client < 0 || client >= len(s.slots) || !s.slots[client].used {
		return ErrNoSession
	}
	s.disconnects(now, &s.slots[client], out)
	s.freeSlot(client)
	return nil
}

// disconnects sends the client of a session ten disconnects.
func (s *Server) disconnects(now time.Duration, c *slot, out *Outbox) {
	for range disconnectRepeats {
		out.commit(s.seal(now, c, KindDisconnect, nil, out.bytes), c.address)
	}
}

// StopAccepting makes the server deny all new clients from now on; sessions go on.
func (s *Server) StopAccepting() { s.stopped = true }

// PauseAccepting makes the server deny all clients with a good token until ResumeAccepting;
// sessions go on.
func (s *Server) PauseAccepting() { s.paused = true }

// ResumeAccepting ends a PauseAccepting, but not a StopAccepting.
func (s *Server) ResumeAccepting() { s.paused = false }

// MarkTokenUsed marks a token as used until it expires, and writes it to the journal. It is for a
// token that was used at another server. It reports false when there is no room.
func (s *Server) MarkTokenUsed(tag TokenTag, expire uint64) bool {
	return s.tokens.mark(tag, expire, uint64(max(0, s.clock.unix)))
}

// Session returns the session in a slot.
func (s *Server) Session(client int) (v Session, ok bool) {
	if client < 0 || client >= len(s.slots) || !s.slots[client].used {
		return v, false
	}
	c := &s.slots[client]
	return Session{ClientID: c.clientID, Address: c.address, UserData: &s.userData[client],
		Confirmed: c.confirmed, LastReceived: c.received,
		Token: c.token, Expire: c.expire, AuthFailures: c.authFailures.total,
		AuthFlood: c.authFailures.flood}, true
}

// Find returns the slot of a client id.
func (s *Server) Find(clientID uint64) (client int, ok bool) {
	return s.slotOfClient.get(numberKey(clientID))
}

// At returns the slot whose session is at an address.
func (s *Server) At(address netip.AddrPort) (client int, ok bool) {
	return s.slotAt.get(addressKey(address))
}

// Clients returns the number of slots.
func (s *Server) Clients() int { return len(s.slots) }

// Connected returns the number of sessions.
func (s *Server) Connected() int { return len(s.slots) - len(s.freeSlots) }

// IndexedSessions returns how many addresses and how many client ids lead to a session. Both
// equal Connected, or the server has a bug.
func (s *Server) IndexedSessions() (addresses, clients int) {
	return s.slotAt.length, s.slotOfClient.length
}

// PendingHandshakes returns the number of handshakes under way.
func (s *Server) PendingHandshakes() int { return len(s.handshakes) - len(s.freeHandshakes) }

// Pressure returns the share of the handshake budget that is spent, 0 to 1 (handshake_pressure).
func (s *Server) Pressure() float64 { return s.budget.pressure() }

// SetSpare lets tokens be opened beyond HandshakesPerSecond, in a share of a processor's time, 0 to
// 1: what the owner's loop has to spare. The share holds until the next call; at first it is 0.
func (s *Server) SetSpare(share float64) { s.budget.setSpare(share) }

// Counters returns the server's counters; read them between calls.
func (s *Server) Counters() *Counters { return &s.counters }
