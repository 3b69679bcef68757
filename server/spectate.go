package server

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/protocol"
)

// viewpoint is the player whose view a spectator has.
type viewpoint struct {
	target netid.ID // 0: none
	free   bool     // the spectator wants a free camera
	owed   bool     // the spectator has not been told its target
}

// spectators gives each spectator the view of a player, or a free camera where Config.SpectateAll allows it.
type spectators struct{ *core }

// update gives each spectator a target after a tick: a target that has left is followed by the next player.
func (s *spectators) update() {
	if s.cfg.Spectators == 0 {
		return
	}
	for _, slot := range s.live {
		g := &s.guests[slot]
		if !g.watches || !g.ready {
			continue
		}
		if v := &g.watch; !v.free && !s.playing(v.target) {
			g.follow(s.next(v.target.Index(), 1))
		}
		if g.watch.owed {
			w := protocol.Watch{Player: uint32(g.watch.target)}
			if w.Player != 0 {
				w.Kind = protocol.WatchPlayer
			}
			g.watch.owed = g.peer.Queue(w.Append(s.message[:0], protocol.TagTarget)) != nil
		}
	}
}

// playing reports whether an id is of a player of the match, whose view a spectator may have.
func (s *spectators) playing(id netid.ID) bool {
	v := s.match.Vital(id)
	return v != nil && !v.Watches
}

// next is the next player from a slot on, by steps of 1 or -1; 0 if there is none.
func (s *spectators) next(slot, step int) netid.ID {
	n := len(s.guests)
	for range n {
		slot = (slot + step + n) % n
		if id := s.match.World.At(slot); s.playing(id) {
			return id
		}
	}
	return 0
}

// request takes a spectator's wish for another view. ok is false if the message is no such wish, or the sender is no spectator.
func (s *spectators) request(g *guest, message []byte) (ok bool) {
	w, err := protocol.ParseWatch(message, protocol.TagWatch)
	if err != nil || !g.watches || !g.ready {
		return false
	}
	from := g.watch.target.Index()
	switch w.Kind {
	case protocol.WatchNext:
		g.watch.free = false
		g.follow(s.next(from, 1))
	case protocol.WatchPrevious:
		g.watch.free = false
		g.follow(s.next(from, -1))
	case protocol.WatchPlayer:
		if !s.playing(netid.ID(w.Player)) {
			s.Stats.Count[WatchRefused].Inc()
			break
		}
		g.watch.free = false
		g.follow(netid.ID(w.Player))
	case protocol.WatchFree:
		if !s.cfg.SpectateAll {
			s.Stats.Count[WatchRefused].Inc()
			break
		}
		g.watch.free = true
		g.follow(0)
	}
	g.watch.owed = true // a refusal is answered, too
	return true
}

// follow gives a spectator the view of another player. What it saw through the last one it sees no longer.
func (g *guest) follow(id netid.ID) {
	if g.watch.target == id {
		return
	}
	g.watch.target, g.watch.owed = id, true
	if g.eyes != nil {
		g.eyes.Reset()
	}
}

// viewpoint is the slot of the player whose view a connection has: its own, or that of a spectator's target; -1 for a free camera.
func (g *guest) viewpoint() int {
	switch {
	case !g.watches:
		return g.id.Index()
	case g.watch.target == 0:
		return -1
	}
	return g.watch.target.Index()
}

// seesAll reports whether a connection may be sent every player.
func (c *core) seesAll(g *guest) bool {
	return c.cfg.Relevance != RelevanceGrid || g.watches && c.cfg.SpectateAll
}
