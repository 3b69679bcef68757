package netcode

import (
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

// path takes a datagram of KindPath: from a client that is where it was, or from where one wants to be.
func (s *Server) path(now time.Duration, from netip.AddrPort, h header, datagram []byte, out *Outbox) (Event, Drop) {
	id, fits := pathID(h, datagram)
	if !fits {
		return Event{}, DropSize
	}
	i, known := s.pathSlot(id, from)
	if !known {
		return Event{}, DropUnknown
	}
	c := &s.slots[i]
	home := canonical(from) == canonical(c.address)
	if why := c.window.Check(h.sequence); why != DropNone {
		return Event{}, why
	}
	if !home { // it is a stranger's datagram until it has opened
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
		if kick, why := s.charge(now, i); why != DropNone || kick {
			return kicked(kick, i), why
		}
		return Event{}, s.pathFromSlot(now, i, id, body[0], out)
	}
	if !newest || id == 0 {
		return Event{}, DropMigration
	}
	return s.pathFromNew(now, i, from, body, len(datagram), out)
}

// pathSlot finds the session by its id, or, while the client has none, by its address.
func (s *Server) pathSlot(id uint64, from netip.AddrPort) (i int, known bool) {
	if id == 0 {
		return s.slotAt.get(addressKey(from))
	}
	return s.slotOfPath.get(numberKey(id))
}

// pathFromSlot takes a hello, which is answered with a session id, or a probe, which was not needed.
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
		s.sendPath(now, c, 0, body, c.address, out)
	case op == pathProbe || op == pathEcho:
	default:
		return DropMigration
	}
	c.received = now
	c.confirmed = true
	return DropNone
}

// pathFromNew takes a probe, which is answered with a challenge, or an echo, which moves the session.
func (s *Server) pathFromNew(now time.Duration, i int, from netip.AddrPort, body []byte, received int, out *Outbox) (Event, Drop) {
	if _, taken := s.slotAt.get(addressKey(from)); taken {
		return Event{}, DropMigration
	}
	c, p := &s.slots[i], &s.paths[i]
	switch body[0] {
	case pathProbe:
		if p.challenged && now-p.challengedAt < challengeGap {
			return Event{}, DropMigration
		}
		if !p.open || canonical(p.address) != canonical(from) || now-p.proofAt > challengeLife { // else echoes under way are still good
			s.rng.Read(p.proof[:])
			p.address, p.proofAt = from, now
		}
		p.challengedAt, p.challenged, p.open = now, true, true
		b := s.sealer.sealPath(c.seal, out.bytes, c.sequence, p.id, append(append(s.sealer.body[:0], pathChallenge), p.proof[:]...))
		c.sequence++ // but c.sent stays: the old address did not get this
		s.answer(KindPath, b, received, from, out)
		return Event{}, DropNone
	case pathEcho:
		if !p.open || canonical(p.address) != canonical(from) || now-p.proofAt > challengeLife || subtle.ConstantTimeCompare(body[1:], p.proof[:]) != 1 {
			return Event{}, DropMigration
		}
		p.open = false
		if !planted.On(planted.OldAddressKept) {
			s.slotAt.remove(addressKey(c.address))
		}
		s.slotAt.put(addressKey(from), i)
		c.address, c.received, c.confirmed = from, now, true
		s.counters.Migrations++
		s.keepAlive(now, i, out) // at once, so that the client sees that it has moved
		return Event{Kind: EventMigrated, Client: i}, DropNone
	}
	return Event{}, DropMigration
}

// sendPath seals a path datagram of a session.
func (s *Server) sendPath(now time.Duration, c *slot, id uint64, body []byte, to netip.AddrPort, out *Outbox) {
	out.commit(s.sealer.sealPath(c.seal, out.bytes, c.sequence, id, body), to)
	c.sequence++
	c.sent = now
	s.counters.Sent[KindPath]++
}
