package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
)

// Reserve makes the memory of every place now: 94 KB each in a lobby of 64, 230 KB in one of 2000. Without it a place's is made in the
// ticks in which somebody first takes it, and stays for whoever comes after. What places will see of a later map is made with that. It changes
// nothing else. It is for a lobby in which nobody is, before another map is asked for.
func (l *Lobby) Reserve() {
	l.maps.reserve = true
	for slot := range l.guests {
		l.guests[slot].reserve(&l.cfg)
	}
	if l.cfg.Relevance != RelevanceOff {
		l.encoder.Reserve()
		l.packer.Reserve(l.cfg.Players)
	}
	reserveViews(&l.crowd, &l.things.scenery, l.cfg.Players)
	_, _ = l.out.Next(), l.drafts.next()
}

// furnish makes what whoever takes a place needs in any case, if nobody has had it yet.
func (g *guest) furnish(c *Config) {
	if g.peer != nil {
		return
	}
	g.peer = new(packet.Peer)
	g.tracker = snapshot.NewTracker((c.Players+snapshot.GroupRows-1)/snapshot.GroupRows, tick.Tick(c.Interval))
	g.shown = snapshot.NewHeld(c.Players)
	g.tracker.Keep(g.shown)
	g.owner = snapshot.NewOwnerWriter(c.Models.Owner, tick.Tick(c.Interval))
	g.things = newHold(c)
}

// reserve is furnish with what only those need who are not told everything.
func (g *guest) reserve(c *Config) {
	g.furnish(c)
	if c.Relevance == RelevanceOff {
		return
	}
	g.tracker.Reserve()
	g.things.tracker.Reserve()
	words := (c.Players + 63) / 64
	g.fights = make([]uint64, 2*words)
	if c.Kbps != 0 {
		g.thin.reserve(words)
	}
}

// spare is what those will see who have not looked yet, made beforehand.
type spare []*interest.Client

// reserveViews makes spare ones for so many players in a world where any look.
func reserveViews(players *crowd, things *scenery, n int) {
	if players.grid == nil {
		return
	}
	for range n {
		players.spare = append(players.spare, interest.NewClient(players.grid))
		things.spare = append(things.spare, interest.NewClient(things.grid))
	}
}

// take is a spare one, or one that is made now.
func (s *spare) take(g *interest.Grid) *interest.Client {
	last := len(*s) - 1
	if last < 0 {
		return interest.NewClient(g)
	}
	c := (*s)[last]
	(*s)[last], *s = nil, (*s)[:last]
	return c
}
