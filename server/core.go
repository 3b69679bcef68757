package server

import (
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// core is what every part of a lobby works with: the configuration, the match, the connections and
// the way out. Lobby embeds it, and each part has a pointer to it.
type core struct {
	cfg   Config // filled; its Players are all slots, those of spectators included
	match *sim.Match
	connTable
	transport
	message [protocol.MaxWelcome]byte // scratch for one reliable message
	timer   metrics.TickTimer
	account account
	Stats   metrics.Stats
}

// playerSlots is how many slots are for players: Players of a filled configuration has those of
// spectators, too.
func (k *core) playerSlots() int { return k.cfg.Players - k.cfg.Spectators }

// broadcast queues a reliable message with every connection that is ready. A connection with a full
// queue misses it: what is broadcast can be seen in a later message or snapshot, too.
func (k *core) broadcast(message []byte) {
	for _, slot := range k.live {
		if c := &k.conns[slot]; c.session.ready && c.session.peer.QueueReliable(message) != nil {
			k.Stats.Count[metrics.ReliableDropped].Inc()
		}
	}
}
