package server

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tickrate/tickrate/netio/netcode"
)

// Moving is a lobby with its sessions on the way from one Port to another. One worker detaches it,
// another attaches it, and only one of them uses it at a time.
type Moving struct {
	lobby    *Lobby
	sessions []movingSession
	worker   int // from which it moves
}

// movingSession is a session with the slot of its connection; -1: it waits for a player.
type movingSession struct {
	session netcode.MovingSession
	slot    int32
}

// Lobby returns the lobby that moves. Until it is attached, only its counters may be read.
func (m *Moving) Lobby() *Lobby { return m.lobby }

// ErrNoRoom: a Port has too few free sessions for a lobby that moves.
var ErrNoRoom = errors.New("server: too few free sessions for a lobby that moves")

// Detach takes a lobby with its sessions out of a port of several workers. Call it between ticks,
// after Flush. Until Attach, datagrams for the lobby wait, as many as fit a ring; so attach it
// within milliseconds, if need be to the same port. Detach returns nil for a lobby that has ended.
func (p *Port) Detach(now time.Duration, l *Lobby) *Moving {
	if l.join.ended || l.port != p || p.steering == nil {
		return nil
	}
	m := &Moving{lobby: l, worker: p.steering.worker}
	p.steering.roomAt = 0
	for _, client := range l.join.arrivals {
		m.take(p, int(client))
	}
	l.join.arrivals = l.join.arrivals[:0]
	for client := range p.routes {
		if p.routes[client].lobby == l {
			m.take(p, client)
		}
	}
	p.lobbies = slices.DeleteFunc(p.lobbies, func(other *Lobby) bool { return other == l })
	p.ingress.waiting = slices.DeleteFunc(p.ingress.waiting, func(other *Lobby) bool { return other == l })
	for _, slot := range l.reconnectable {
		user := l.conns[slot].roster.user
		p.steering.index.PutNumber(indexKeptMoving, user, m.worker)
		p.keep(user, false) // unless another lobby here keeps it
	}
	return m
}

// take takes a session out of a port.
func (m *Moving) take(p *Port, client int) {
	s, ok := p.netcode.Release(client)
	if !ok {
		panic(fmt.Sprintf("server: client %d of lobby %d has no session", client, m.lobby.ID()))
	}
	m.sessions = append(m.sessions, movingSession{s, p.routes[client].slot})
	p.routes[client] = noRoute
}

// Attach gives a port a lobby that another port of the same workers has detached: it then answers
// the clients, and datagrams that reach the other one follow. The clocks of both ports show the same
// time. With an ErrNoRoom nothing has changed.
func (p *Port) Attach(now time.Duration, m *Moving) error {
	if p.netcode.Clients()-p.netcode.Connected() < len(m.sessions) {
		return fmt.Errorf("%w: lobby %d with %d, %d free", ErrNoRoom, m.lobby.ID(), len(m.sessions),
			p.netcode.Clients()-p.netcode.Connected())
	}
	l, from, to := m.lobby, m.worker, p.steering
	l.port = p
	to.index.MoveNumber(indexLobby, uint64(l.cfg.ID), from, to.worker)
	p.Add(l)
	for _, slot := range l.reconnectable {
		user := l.conns[slot].roster.user
		p.keep(user, true)
		to.index.RemoveNumber(indexKeptMoving, user, from)
	}
	for i := range m.sessions {
		s := &m.sessions[i]
		client := p.netcode.Adopt(&s.session, from)
		p.routes[client] = route{lobby: l, slot: s.slot}
		if s.slot < 0 {
			l.join.arrivals = append(l.join.arrivals, int32(client))
		} else {
			l.conns[s.slot].session.client = int32(client)
		}
	}
	if len(l.join.arrivals) > 0 {
		p.ingress.waiting = append(p.ingress.waiting, l)
	}
	m.lobby, m.sessions = nil, nil
	return nil
}
