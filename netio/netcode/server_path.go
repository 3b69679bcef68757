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
	home := plain(from) == plain(c.address)
	if why := c.window.Check(h.sequence); why != DropNone {
		return Event{}, why
	}
	if !home { // it is a stranger's datagram until it has opened
		if why := s.budget.admit(now, byAddress(from), s.dice); why != DropNone {
			return Event{}, why
		}
	}
	body, ok := s.sealer.openPath(c.open, h, id, datagram)
	if !ok {
		if home {
			s.forged(now, c)
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
		return Event{}, s.pathHome(now, i, id, body[0], out)
	}
	if !newest || id == 0 {
		return Event{}, DropMigration
	}
	return s.pathAway(now, i, from, body, len(datagram), out)
}

// pathSlot finds the session by its id, or, while the client has none, by its address.
func (s *Server) pathSlot(id uint64, from netip.AddrPort) (i int, known bool) {
	if id == 0 {
		return s.address.get(byAddress(from))
	}
	return s.ids.get(byNumber(id))
}

// pathHome takes a hello, which is answered with a session id, or a probe, which was not needed.
func (s *Server) pathHome(now time.Duration, i int, id uint64, op byte, out *Outbox) Drop {
	c, p := &s.slots[i], &s.paths[i]
	switch {
	case op == pathHello && id == 0:
		for p.id == 0 {
			if n := s.dice.Uint64(); n != 0 {
				if _, used := s.ids.get(byNumber(n)); !used {
					p.id = n
					s.ids.put(byNumber(n), i)
				}
			}
		}
		body := binary.LittleEndian.AppendUint64(append(s.sealer.plain[:0], pathGrant), p.id)
		s.sendPath(now, c, 0, body, c.address, out)
	case op == pathProbe || op == pathEcho:
	default:
		return DropMigration
	}
	c.heard = now
	c.confirmed = true
	return DropNone
}

// pathAway takes a probe, which is answered with a challenge, or an echo, which moves the session.
func (s *Server) pathAway(now time.Duration, i int, from netip.AddrPort, body []byte, received int, out *Outbox) (Event, Drop) {
	if _, taken := s.address.get(byAddress(from)); taken {
		return Event{}, DropMigration
	}
	c, p := &s.slots[i], &s.paths[i]
	switch body[0] {
	case pathProbe:
		if p.asked && now-p.at < challengeGap {
			return Event{}, DropMigration
		}
		if !p.answering || plain(p.to) != plain(from) || now-p.made > challengeLife { // else echoes under way are still good
			s.dice.Read(p.proof[:])
			p.to, p.made = from, now
		}
		p.at, p.asked, p.answering = now, true, true
		b := s.sealer.sealPath(c.seal, out.bytes, c.next, p.id, append(append(s.sealer.plain[:0], pathChallenge), p.proof[:]...))
		c.next++ // but c.sent stays: the old address did not get this
		s.answer(KindPath, b, received, from, out)
		return Event{}, DropNone
	case pathEcho:
		if !p.answering || plain(p.to) != plain(from) || now-p.made > challengeLife || subtle.ConstantTimeCompare(body[1:], p.proof[:]) != 1 {
			return Event{}, DropMigration
		}
		p.answering = false
		if !planted.On(planted.OldAddressKept) {
			s.address.remove(byAddress(c.address))
		}
		s.address.put(byAddress(from), i)
		c.address, c.heard, c.confirmed = from, now, true
		s.counters.Migrations++
		s.keepAlive(now, i, out) // at once, so that the client sees that it has moved
		return Event{Kind: EventMigrated, Client: i}, DropNone
	}
	return Event{}, DropMigration
}

// sendPath seals a path datagram of a session.
func (s *Server) sendPath(now time.Duration, c *slot, id uint64, body []byte, to netip.AddrPort, out *Outbox) {
	out.commit(s.sealer.sealPath(c.seal, out.bytes, c.next, id, body), to)
	c.next++
	c.sent = now
	s.counters.Sent[KindPath]++
}
