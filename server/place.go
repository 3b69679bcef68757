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
	for slot := range l.conns {
		l.conns[slot].reserve(&l.cfg)
	}
	if l.cfg.Relevance != RelevanceOff {
		l.replication.players.encoder.Reserve()
		l.replication.players.packer.Reserve(l.cfg.Players)
	}
	reserveViews(&l.replication.players.crowd, &l.replication.objects.scenery, l.cfg.Players)
	_, _ = l.egress.out.Next(), l.egress.packets.next()
}

// furnish makes what whoever takes a place needs in any case, if nobody has had it yet.
func (c *conn) furnish(cfg *Config) {
	if c.session.peer != nil {
		return
	}
	c.session.peer = new(packet.Peer)
	c.repl.acks.tracker = snapshot.NewTracker((cfg.Players+snapshot.GroupRows-1)/snapshot.GroupRows, tick.Tick(cfg.SendInterval))
	c.repl.acks.history = snapshot.NewHeld(cfg.Players)
	c.repl.acks.tracker.Keep(c.repl.acks.history)
	c.repl.acks.owner = snapshot.NewOwnerWriter(cfg.Models.Owner, tick.Tick(cfg.SendInterval))
	c.repl.acks.objects = newObjectAcks(cfg)
}

// reserve is furnish with what only those need who are not told everything.
func (c *conn) reserve(cfg *Config) {
	c.furnish(cfg)
	if cfg.Relevance == RelevanceOff {
		return
	}
	c.repl.acks.tracker.Reserve()
	c.repl.acks.objects.tracker.Reserve()
	words := (cfg.Players + 63) / 64
	c.repl.view.combat = make([]uint64, 2*words)
	if cfg.Kbps != 0 {
		c.repl.schedule.alloc(words)
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
