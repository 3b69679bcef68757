package server

import (
	"github.com/tickrate/tickrate/netio/packet"
	"github.com/tickrate/tickrate/protocol"
	"github.com/tickrate/tickrate/server/metrics"
)

// elsewhere takes an event about a world of which the connection was told, and returns what it says; nil if it is about one that is over,
// or of a world that has no number while the connection is in one.
func (l *Lobby) elsewhere(c *conn, event []byte) []byte {
	world := uint8(0)
	if event[0] == protocol.MessageMapChange {
		var err error
		if world, event, err = protocol.ParseMapChange(event); err != nil {
			return nil
		}
	} else if event[0] != protocol.MessageReady && event[0] != protocol.MessageFetch {
		return event
	}
	if world != c.session.mapEpoch {
		l.Stats.Count[metrics.StaleMapEpoch].Inc()
		return nil
	}
	return event
}

// here reports whether a package was sent after its client had heard of the world that its player is in: it acknowledges a package
// that was sent after the client's Ready.
func (c *conn) here(data []byte) bool {
	if c.session.mapEpoch == 0 || c.session.epochSettled {
		return true
	}
	h, _, err := packet.ParseHeader(data)
	if err != nil || !c.session.ready || c.session.firstSnapshot == 0 {
		return false
	}
	ahead := int16(h.Ack - uint16(c.session.firstSnapshot))
	c.session.epochSettled = ahead > maxAhead // no older package is taken any more
	return ahead >= 0
}

// maxAhead is a number of packages that no package can be behind others, and still be taken.
const maxAhead = 1024

// opens notes the first package of a snapshot of the connection's world.
func (c *conn) opens(seq uint16) {
	if c.session.firstSnapshot == 0 {
		c.session.firstSnapshot = 1<<16 | uint32(seq)
	}
}
