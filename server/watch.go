package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// watch is through whose eyes a spectator looks.
type watch struct {
	target netid.ID // 0: nobody's
	free   bool     // it wants nobody's
	owed   bool     // it has not been told
}

// spectators counts the connections who look on, those who are away included.
func (l *Lobby) spectators() (n int) {
	for _, slots := range [2][]int32{l.live, l.away} {
		for _, slot := range slots {
			if l.conns[slot].roster.spectates {
				n++
			}
		}
	}
	return n
}

// room reports whether there is a place for one more, of those who play or of those who look on.
func (l *Lobby) room(watches bool) bool {
	n := l.spectators()
	if watches {
		return n < l.cfg.Spectators && l.replication.level < overload.NoSpectators
	}
	return len(l.live)+len(l.away)-n < l.cfg.Players-l.cfg.Spectators
}

// turnAway ends a session for which there is no place, and says why.
func (l *Lobby) turnAway(now time.Duration, client int, why packet.Reason) {
	if l.usher == nil {
		l.usher = new(packet.Peer)
	}
	l.usher.Reset(now, packet.Config{})
	var pack [packet.HeaderSize + 2]byte
	for range packet.CloseRepeats {
		p, _ := l.usher.Append(now, pack[:0])
		l.hand(now, client, l.usher.AppendClose(p, why)) // what is lost is said by the disconnects
	}
	_ = l.gate.Disconnect(now, client, &l.egress.outbox)
	l.Stats.Count[metrics.RejectedFull].Inc()
}

// sendHome dismisses all who look on: they are the first people whom an overloaded lobby does without.
func (l *Lobby) sendHome(now time.Duration) {
	for i := 0; i < len(l.live); i++ {
		if c := &l.conns[l.live[i]]; c.roster.spectates {
			l.dismiss(now, c, packet.ReasonOverload)
			l.Stats.Count[metrics.SpectatorsShed].Inc()
			i--
		}
	}
}

// looksAfter sees to it that each spectator who wants to looks through somebody's eyes, after each tick: who has left is followed by
// the next.
func (l *Lobby) looksAfter() {
	if l.cfg.Spectators == 0 {
		return
	}
	for _, slot := range l.live {
		c := &l.conns[slot]
		if !c.roster.spectates || !c.session.ready {
			continue
		}
		if w := &c.roster.watch; !w.free && !l.watchable(w.target) {
			l.follow(c, l.following(w.target.Index(), 1))
		}
		if c.roster.watch.owed {
			w := protocol.Spectate{Player: uint32(c.roster.watch.target)}
			if w.Player != 0 {
				w.Mode = protocol.SpectatePlayer
			}
			c.roster.watch.owed = c.session.peer.QueueReliable(w.Append(l.event[:0], protocol.MessageViewpoint)) != nil
		}
	}
}

// watchable reports whether somebody plays who can be looked through.
func (l *Lobby) watchable(id netid.ID) bool {
	v := l.match.Vital(id)
	return v != nil && !v.Spectator
}

// following is the next player from a slot on, by steps of 1 or -1, or 0 if there is none.
func (l *Lobby) following(slot, step int) netid.ID {
	n := len(l.conns)
	for range n {
		slot = (slot + step + n) % n
		if id := l.match.World.At(slot); l.watchable(id) {
			return id
		}
	}
	return 0
}

// follow changes whom a spectator looks through. What it saw through other eyes it sees no longer.
func (l *Lobby) follow(c *conn, id netid.ID) {
	if c.roster.watch.target == id {
		return
	}
	c.roster.watch.target, c.roster.watch.owed = id, true
	if c.repl.view.interest != nil {
		c.repl.view.interest.Reset()
	}
}

// watchAs takes what a spectator asks for. False if the event is no such thing, or its sender plays.
func (l *Lobby) watchAs(c *conn, event []byte) bool {
	w, err := protocol.ParseSpectate(event, protocol.MessageSpectate)
	if err != nil || !c.roster.spectates || !c.session.ready {
		return false
	}
	from := c.roster.watch.target.Index()
	switch w.Mode {
	case protocol.SpectateNext:
		c.roster.watch.free = false
		l.follow(c, l.following(from, 1))
	case protocol.SpectatePrevious:
		c.roster.watch.free = false
		l.follow(c, l.following(from, -1))
	case protocol.SpectatePlayer:
		if !l.watchable(netid.ID(w.Player)) {
			l.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		c.roster.watch.free = false
		l.follow(c, netid.ID(w.Player))
	case protocol.SpectateFree:
		if !l.cfg.SpectateAll {
			l.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		c.roster.watch.free = true
		l.follow(c, 0)
	}
	c.roster.watch.owed = true // also what did not change is an answer
	return true
}

// eye is the slot of the player through whose eyes a connection sees: its own, or of who looks on that of its target; -1 for nobody's.
func (l *Lobby) eye(c *conn) int {
	switch {
	case !c.roster.spectates:
		return c.id.Index()
	case c.roster.watch.target == 0:
		return -1
	}
	return c.roster.watch.target.Index()
}

// seesAll reports whether a connection may be told of everybody.
func (l *Lobby) seesAll(c *conn) bool {
	return l.cfg.Relevance != RelevanceGrid || c.roster.spectates && l.cfg.SpectateAll
}
