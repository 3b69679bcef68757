package netcode

import (
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"time"
)

// path takes a datagram of KindPath, from the session's address or from a new one.
func (s *Server) path(now time.Duration, from netip.AddrPort, h header, datagram []byte,
	out *Outbox) (Event, Drop) {
	id, fits := pathID(h, datagram)
	if !fits {
		return Event{}, DropSize
	}
	i, known := s.pathSlot(id, from)
	if !known {
		return s.unknownPath(id, from)
	}
	c := &s.slots[i]
	home := canonical(from) == canonical(c.address)
	if why := c.window.Check(h.sequence); why != DropNone {
		return Event{}, why
	}
	if !home { // the address is unproven
		if why := s.budget.admit(now, addressKey(from), s.rng); why != DropNone {
			return Event{}, why
		}
	}
	body, ok := s.sealer.openPath(c.open, h, id, datagram)
	if !ok {
		if home {
			s.countAuthFailure(now, c)
		}
		return Event{}, DropAuth
	}
	newest := h.sequence > c.window.Newest()
	c.window.Record(h.sequence)
	if !pathFits(body[0], len(body)) || body[0] == pathProbe && len(datagram) < probeSize {
		return Event{}, DropBody
	}
	if home {
		if e, why := s.charge(now, i); why != DropNone || e.Kind != EventNone {
			return e, why
		}
		return Event{}, s.pathFromSlot(now, i, id, body[0], out)
	}
	_, taken := s.slotAt.get(addressKey(from))
	if !taken && s.group.Index != nil { // elsewhere, or by a session that moves
		_, taken = s.group.Index.find(IndexAddress, addressKey(from), -1)
	}
	switch {
	case !newest || id == 0 || taken:
	case body[0] == pathProbe:
		return Event{}, s.pathProbed(now, i, from, len(datagram), out)
	case body[0] == pathEcho:
		return s.pathEchoed(now, i, from, body[1:], out)
	}
	return Event{}, DropMigration
}

// unknownPath returns where a path datagram belongs that names no session of this server.
func (s *Server) unknownPath(id uint64, from netip.AddrPort) (Event, Drop) {
	kind, key := IndexPath, numberKey(id)
	if id == 0 {
		kind, key = IndexAddress, addressKey(from)
	}
	if e, ok := s.group.elsewhere(kind, key); ok {
		return e, DropNone
	}
	return Event{}, DropUnknown
}

// pathSlot finds the session by its id, or by its address while the client has no id.
func (s *Server) pathSlot(id uint64, from netip.AddrPort) (i int, known bool) {
	if id == 0 {
		return s.slotAt.get(addressKey(from))
	}
	return s.slotOfPath.get(numberKey(id))
}

// pathFromSlot answers a hello with a session id. A probe or echo from the session's address was
// not needed.
func (s *Server) pathFromSlot(now time.Duration, i int, id uint64, op byte, out *Outbox) Drop {
	c, p := &s.slots[i], &s.paths[i]
	switch {
	case op == pathHello && id == 0:
		for p.id == 0 {
			if n := s.rng.Uint64(); n != 0 {
				if _, used := s.slotOfPath.get(numberKey(n)); !used {
					p.id = n
					s.slotOfPath.put(numberKey(n), i)
				}
			}
		}
		body := binary.LittleEndian.AppendUint64(append(s.sealer.body[:0], pathGrant), p.id)
		s.sendGrant(now, c, body, out)
	case op == pathProbe || op == pathEcho:
	default:
		return DropMigration
	}
	c.received = now
	c.confirmed = true
	return DropNone
}

// pathProbed answers a probe from a new address with a challenge. received is the probe's length.
func (s *Server) pathProbed(now time.Duration, i int, from netip.AddrPort, received int, out *Outbox) Drop {
	c, p := &s.slots[i], &s.paths[i]
	if p.challenged && now-p.challengedAt < challengeGap {
		return DropMigration
	}
	if !p.waitsFor(now, from) { // else echoes under way stay good
		s.rng.Read(p.proof[:])
		p.address, p.proofAt = from, now
	}
	p.challengedAt, p.challenged, p.open = now, true, true
	body := append(append(s.sealer.body[:0], pathChallenge), p.proof[:]...)
	b := s.sealer.sealPath(c.seal, out.bytes, c.sequence, p.id, body)
	c.sequence++ // but c.sent stays: the old address did not get this
	s.answer(KindPath, b, received, from, out)
	return DropNone
}

// pathEchoed moves a session to a new address that has echoed its challenge.
func (s *Server) pathEchoed(now time.Duration, i int, from netip.AddrPort, proof []byte,
	out *Outbox) (Event, Drop) {
	c, p := &s.slots[i], &s.paths[i]
	if !p.waitsFor(now, from) || subtle.ConstantTimeCompare(proof, p.proof[:]) != 1 {
		return Event{}, DropMigration
	}
	p.open = false
	s.slotAt.remove(addressKey(c.address))
	s.slotAt.put(addressKey(from), i)
	c.address, c.received, c.confirmed = from, now, true
	s.counters.Migrations++
	s.keepAlive(now, i, out) // at once, so that the client sees that it has moved
	return Event{Kind: EventMigrated, Client: i}, DropNone
}

// waitsFor reports whether an echo from an address would be in time.
func (p *path) waitsFor(now time.Duration, from netip.AddrPort) bool {
	return p.open && canonical(p.address) == canonical(from) && now-p.proofAt <= challengeLife
}

// sendGrant seals the path datagram that tells a client its session id.
func (s *Server) sendGrant(now time.Duration, c *slot, body []byte, out *Outbox) {
	out.commit(s.sealer.sealPath(c.seal, out.bytes, c.sequence, 0, body), c.address)
	c.sequence++
	c.sent = now
	s.counters.Sent[KindPath]++
}
