package server

import (
	"time"

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
	port    *Port
	traffic traffic                   // not yet in Stats
	message [protocol.MaxWelcome]byte // scratch for one reliable message
	timer   metrics.TickTimer
	account account
	Stats   metrics.Stats
}

// broadcast queues a reliable message with every connection that is ready. A connection with a full
// queue misses it: what is broadcast can be seen in a later message or snapshot, too.
func (k *core) broadcast(message []byte) {
	for _, slot := range k.live {
		if c := &k.conns[slot]; c.session.ready && c.session.peer.QueueReliable(message) != nil {
			k.Stats.Count[metrics.ReliableDropped].Inc()
		}
	}
}

// ofClient returns the connection of a client of netcode; nil while it has none in this lobby.
func (k *core) ofClient(client int) *conn {
	if r := k.port.routes[client]; r.slot >= 0 && &r.lobby.core == k {
		return &k.conns[r.slot]
	}
	return nil
}

// detach is the reverse of join.attach.
func (k *core) detach(slot, client int32) {
	k.port.routes[client] = noRoute
	k.connTable.detach(slot)
}

// sendPacket seals a packet without a snapshot. It may get lost; the messages in it are due again
// then.
func (k *core) sendPacket(now time.Duration, client int, packet []byte) {
	sealed := k.port.sendPacket(now, client, packet)
	if sealed == nil {
		return
	}
	k.traffic.send(len(sealed))
	if !k.timer.Off {
		k.account.bandwidth.AddPacket(packet, sealed)
	}
}
