package server

import (
	"time"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/netio/session"
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/server/overload"
)

// watch is through whose eyes a spectator looks.
type watch struct {
	target netid.ID // 0: nobody's
	free   bool     // it wants nobody's
	owed   bool     // it has not been told
}

// spectators counts the guests who look on, those who are away included.
func (l *Lobby) spectators() (n int) {
	for _, slots := range [2][]int32{l.live, l.away} {
		for _, slot := range slots {
			if l.guests[slot].watches {
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
		return n < l.cfg.Spectators && l.loadLevel < overload.NoSpectators
	}
	return len(l.live)+len(l.away)-n < l.cfg.Players-l.cfg.Spectators
}

// turnAway ends a session for which there is no place, and says why.
func (l *Lobby) turnAway(now time.Duration, client int, why wire.Reason) {
	if l.usher == nil {
		l.usher = new(session.Peer)
	}
	l.usher.Reset(now, session.Config{})
	var pack [wire.HeaderSize + 2]byte
	for range session.CloseRepeats {
		p, _ := l.usher.Append(now, pack[:0])
		l.hand(now, client, l.usher.AppendClose(p, why)) // what is lost is said by the disconnects
	}
	_ = l.gate.Disconnect(now, client, &l.post)
	l.Stats.Count[metrics.RejectedFull].Inc()
}

// sendHome dismisses all who look on: they are the first people whom an overloaded lobby does without.
func (l *Lobby) sendHome(now time.Duration) {
	for i := 0; i < len(l.live); i++ {
		if g := &l.guests[l.live[i]]; g.watches {
			l.dismiss(now, g, wire.ReasonOverload)
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
		g := &l.guests[slot]
		if !g.watches || !g.ready {
			continue
		}
		if w := &g.watch; !w.free && !l.watchable(w.target) {
			l.follow(g, l.following(w.target.Index(), 1))
		}
		if g.watch.owed {
			w := wire.Watch{Player: uint32(g.watch.target)}
			if w.Player != 0 {
				w.Kind = wire.WatchPlayer
			}
			g.watch.owed = g.peer.Queue(w.Append(l.event[:0], wire.TagTarget)) != nil
		}
	}
}

// watchable reports whether somebody plays who can be looked through.
func (l *Lobby) watchable(id netid.ID) bool {
	v := l.match.Vital(id)
	return v != nil && !v.Watches
}

// following is the next player from a slot on, by steps of 1 or -1, or 0 if there is none.
func (l *Lobby) following(slot, step int) netid.ID {
	n := len(l.guests)
	for range n {
		slot = (slot + step + n) % n
		if id := l.match.World.At(slot); l.watchable(id) {
			return id
		}
	}
	return 0
}

// follow changes whom a spectator looks through. What it saw through other eyes it sees no longer.
func (l *Lobby) follow(g *guest, id netid.ID) {
	if g.watch.target == id {
		return
	}
	g.watch.target, g.watch.owed = id, true
	if g.eyes != nil {
		g.eyes.Reset()
	}
}

// watchAs takes what a spectator asks for. False if the event is no such thing, or its sender plays.
func (l *Lobby) watchAs(g *guest, event []byte) bool {
	w, err := wire.ParseWatch(event, wire.TagWatch)
	if err != nil || !g.watches || !g.ready {
		return false
	}
	from := g.watch.target.Index()
	switch w.Kind {
	case wire.WatchNext:
		g.watch.free = false
		l.follow(g, l.following(from, 1))
	case wire.WatchPrevious:
		g.watch.free = false
		l.follow(g, l.following(from, -1))
	case wire.WatchPlayer:
		if !l.watchable(netid.ID(w.Player)) {
			l.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		g.watch.free = false
		l.follow(g, netid.ID(w.Player))
	case wire.WatchFree:
		if !l.cfg.SpectateAll {
			l.Stats.Count[metrics.SpectateRefused].Inc()
			break
		}
		g.watch.free = true
		l.follow(g, 0)
	}
	g.watch.owed = true // also what did not change is an answer
	return true
}

// eye is the slot of the player through whose eyes a guest sees: its own, or of who looks on that of its target; -1 for nobody's.
func (l *Lobby) eye(g *guest) int {
	switch {
	case !g.watches:
		return g.id.Index()
	case g.watch.target == 0:
		return -1
	}
	return g.watch.target.Index()
}

// seesAll reports whether a guest may be told of everybody.
func (l *Lobby) seesAll(g *guest) bool {
	return l.cfg.Relevance != RelevanceGrid || g.watches && l.cfg.SpectateAll
}
