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

	// The requests of a tick. At its end the target is the player that is a number of steps after
	// wanted, or before it if the number is negative.
	wanted netid.ID
	steps  int
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
		c.follow(s.requested(&c.roster.view))
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

// requested is the target that a spectator asks for, and the next player if that one has left.
func (s *spectators) requested(v *viewpoint) netid.ID {
	switch {
	case v.steps != 0:
		return s.step(v.wanted.Index(), v.steps)
	case !v.free && !s.playing(v.wanted):
		return s.step(v.wanted.Index(), 1)
	}
	return v.wanted
}

// playing reports whether an id is of a player of the match, which spectators may follow.
func (s *spectators) playing(id netid.ID) bool {
	return s.match.Vital(id) != nil && !s.match.Spectates(id)
}

// step is the player that is a number of players after a slot, or before it if the number is
// negative; 0 if there is none. It goes round the slots twice at most, however large the number is.
func (s *spectators) step(slot, steps int) netid.ID {
	n, direction, players := len(s.conns), 1, 0
	if steps < 0 {
		direction, steps = -1, -steps
	}
	for at := 1; at <= 2*n; at++ {
		slot = (slot + direction + n) % n
		if id := s.match.World.At(slot); s.playing(id) {
			players++
			if players == steps {
				return id
			}
		}
		if at == n { // once round
			if players == 0 {
				return 0
			}
			steps, players = (steps-1)%players+1, 0
		}
	}
	return 0
}

// request notes a spectator's request for another viewpoint, which it gets with the end of the tick.
// A packet may have 64 requests, so none of them costs more than to note it. ok is false if the message
// is no such request, or the sender is no spectator.
func (s *spectators) request(c *conn, message []byte) (ok bool) {
	w, err := protocol.ParseSpectate(message, protocol.MessageSpectate)
	if err != nil || c.roster.role != roleSpectator || !c.session.ready {
		return false
	}
	v, id := &c.roster.view, netid.ID(w.Player)
	switch w.Mode {
	case protocol.SpectateNext:
		v.free = false
		v.steps++
	case protocol.SpectatePrevious:
		v.free = false
		v.steps--
	case protocol.SpectatePlayer:
		if !s.playing(id) {
			s.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		v.free, v.wanted, v.steps = false, id, 0
	case protocol.SpectateFree:
		if !s.cfg.SpectateAll {
			s.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		v.free, v.wanted, v.steps = true, 0, 0
	}
	v.unsent = true // a refusal is answered, too
	return true
}

// follow gives a spectator the view of another player. What it saw through the last one it sees no
// longer.
func (c *conn) follow(id netid.ID) {
	v := &c.roster.view
	v.wanted, v.steps = id, 0
	if v.target == id {
		return
	}
	v.target, v.unsent = id, true
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
