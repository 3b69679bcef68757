package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/netio/packet"
)

// Reserve allocates the memory of every slot now: 94 KB each in a lobby of 64, 230 KB in one of 2000.
// Without it a slot's memory is allocated in the ticks in which the slot is first taken, and stays for
// the next connection. Later maps reserve their part when they are prepared. Reserve changes nothing
// else. Call it on an empty lobby, before another map is asked for.
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

// allocate makes what every connection needs, unless the slot has it.
func (c *conn) allocate(cfg *Config) {
	if c.session.peer != nil {
		return
	}
	c.session.peer = new(packet.Peer)
	groups := (cfg.Players + snapshot.GroupRows - 1) / snapshot.GroupRows
	c.repl.acks.tracker = snapshot.NewTracker(groups, tick.Tick(cfg.SendInterval))
	c.repl.acks.history = snapshot.NewHeld(cfg.Players)
	c.repl.acks.tracker.Keep(c.repl.acks.history)
	c.repl.acks.owner = snapshot.NewOwnerWriter(cfg.Models.Owner, tick.Tick(cfg.SendInterval))
	c.repl.acks.objects = newObjectAcks(cfg)
}

// reserve is allocate with what a connection needs that is sent a part of the rows.
func (c *conn) reserve(cfg *Config) {
	c.allocate(cfg)
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

// spare are interest sets that no connection uses yet.
type spare []*interest.Client

// reserveViews makes the interest sets of n connections, unless relevance needs none.
func reserveViews(players *crowd, things *scenery, n int) {
	if players.grid == nil {
		return
	}
	for range n {
		players.spare = append(players.spare, interest.NewClient(players.grid))
		things.spare = append(things.spare, interest.NewClient(things.grid))
	}
}

// take returns a spare interest set, or makes one.
func (s *spare) take(g *interest.Grid) *interest.Client {
	last := len(*s) - 1
	if last < 0 {
		return interest.NewClient(g)
	}
	c := (*s)[last]
	(*s)[last], *s = nil, (*s)[:last]
	return c
}
