package server

import (
	"time"

	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// ofThisMap takes the map epoch off a reliable message, and returns what the message says; nil if
// it is about a map that is over, or has no epoch while the connection is in one.
func (k *core) ofThisMap(c *conn, message []byte) []byte {
	epoch := uint8(0)
	if message[0] == protocol.MessageMapChange {
		var err error
		if epoch, message, err = protocol.ParseMapChange(message); err != nil {
			return nil
		}
	} else if message[0] != protocol.MessageReady && message[0] != protocol.MessageFetch {
		return message
	}
	if epoch != c.session.mapEpoch {
		k.Stats.Count[metrics.StaleMapEpoch].Inc()
		return nil
	}
	return message
}

// awaitsReady reports whether the connection's client has yet to say Ready for the map.
func (c *conn) awaitsReady() bool { return !c.session.ready && c.session.mismatch == 0 }

// mustQueue queues a message that a connection must not miss. A connection with a full queue has
// acknowledged nothing for long: the next tick dismisses it.
func (c *conn) mustQueue(now time.Duration, message []byte) {
	if c.session.peer.QueueReliable(message) != nil {
		c.session.loadingSince = now - readyWithin
	}
}

// onCurrentMap reports whether a packet was sent after its client had changed to the map that its
// player is on: it acknowledges a packet that was sent after the client's Ready.
func (c *conn) onCurrentMap(data []byte) bool {
	if c.session.mapEpoch == 0 || c.session.epochSettled {
		return true
	}
	h, _, err := packet.ParseHeader(data)
	if err != nil || !c.session.ready || c.session.firstSnapshot == 0 {
		return false
	}
	ahead := int16(h.Ack - uint16(c.session.firstSnapshot))
	c.session.epochSettled = ahead > maxAhead // no older packet is accepted any more
	return ahead >= 0
}

// maxAhead is a distance of sequences at which no older packet is accepted any more.
const maxAhead = 1024

// noteFirstSnapshot notes the first packet with a snapshot of the connection's map.
func (c *conn) noteFirstSnapshot(seq uint16) {
	if c.session.firstSnapshot == 0 {
		c.session.firstSnapshot = 1<<16 | uint32(seq)
	}
}
