package server

import (
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/sim"
)

// core is what every part of a lobby works with: the configuration, the match, the connections and the way out. Lobby
// embeds it, and each part has a pointer to it.
type core struct {
	cfg   Config // filled; its Players are all slots, those of spectators included
	match *sim.Match
	connTable
	transport
	message    [protocol.MaxWelcome]byte // scratch for one reliable message
	ledger     ledger
	unobserved bool // see Lobby.Observe
	Stats      Stats
}

// playerSlots is how many slots are for players: Players of a filled configuration has those of spectators, too.
func (c *core) playerSlots() int { return c.cfg.Players - c.cfg.Spectators }

// broadcast queues a reliable message with every connection that is ready. A connection with a full queue misses it: what
// is broadcast can be seen in a later message or snapshot, too.
func (c *core) broadcast(message []byte) {
	for _, slot := range c.live {
		if g := &c.guests[slot]; g.ready && g.peer.Queue(message) != nil {
			c.Stats.Count[EventsRefused].Inc()
		}
	}
}
