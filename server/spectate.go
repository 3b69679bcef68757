package server

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// viewpoint is the player that a spectator follows, or a free camera.
type viewpoint struct {
	target netid.ID // 0: none
	free   bool     // the spectator wants a free camera
	unsent bool     // the spectator has not been sent its target
}

// spectators gives each spectator the view of a player, or a free camera where Config.SpectateAll
// allows it.
type spectators struct{ *core }

// update gives each spectator a target after a tick: a target that has left is followed by the next
// player.
func (s *spectators) update() {
	if s.cfg.Spectators == 0 {
		return
	}
	for _, slot := range s.live {
		c := &s.conns[slot]
		if c.roster.role != roleSpectator || !c.session.ready {
			continue
		}
		if v := &c.roster.view; !v.free && !s.playing(v.target) {
			c.follow(s.next(v.target.Index(), 1))
		}
		if c.roster.view.unsent {
			w := protocol.Spectate{Player: uint32(c.roster.view.target)}
			if w.Player != 0 {
				w.Mode = protocol.SpectatePlayer
			}
			message := w.Append(s.message[:0], protocol.MessageViewpoint)
			c.roster.view.unsent = c.session.peer.QueueReliable(message) != nil
		}
	}
}

// playing reports whether an id is of a player of the match, which spectators may follow.
func (s *spectators) playing(id netid.ID) bool {
	return s.match.Vital(id) != nil && !s.match.Spectates(id)
}

// next is the next player from a slot on, by steps of 1 or -1; 0 if there is none.
func (s *spectators) next(slot, step int) netid.ID {
	n := len(s.conns)
	for range n {
		slot = (slot + step + n) % n
		if id := s.match.World.At(slot); s.playing(id) {
			return id
		}
	}
	return 0
}

// request handles a spectator's request for another viewpoint. ok is false if the message is no
// such wish, or the sender is no spectator.
func (s *spectators) request(c *conn, message []byte) (ok bool) {
	w, err := protocol.ParseSpectate(message, protocol.MessageSpectate)
	if err != nil || c.roster.role != roleSpectator || !c.session.ready {
		return false
	}
	from := c.roster.view.target.Index()
	switch w.Mode {
	case protocol.SpectateNext:
		c.roster.view.free = false
		c.follow(s.next(from, 1))
	case protocol.SpectatePrevious:
		c.roster.view.free = false
		c.follow(s.next(from, -1))
	case protocol.SpectatePlayer:
		if !s.playing(netid.ID(w.Player)) {
			s.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		c.roster.view.free = false
		c.follow(netid.ID(w.Player))
	case protocol.SpectateFree:
		if !s.cfg.SpectateAll {
			s.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		c.roster.view.free = true
		c.follow(0)
	}
	c.roster.view.unsent = true // a refusal is answered, too
	return true
}

// follow gives a spectator the view of another player. What it saw through the last one it sees no
// longer.
func (c *conn) follow(id netid.ID) {
	if c.roster.view.target == id {
		return
	}
	c.roster.view.target, c.roster.view.unsent = id, true
	if c.repl.view.interest != nil {
		c.repl.view.interest.Reset()
	}
}

// viewpoint returns the slot of a connection's viewpoint: its own player, or that of a
// spectator's target; -1 for a free camera.
func (c *conn) viewpoint() int {
	switch {
	case c.roster.role != roleSpectator:
		return c.id.Index()
	case c.roster.view.target == 0:
		return -1
	}
	return c.roster.view.target.Index()
}
