package server

import (
	"github.com/tickrate/tickrate/netio/wire"
	"github.com/tickrate/tickrate/server/metrics"
)

// elsewhere takes an event about a world of which the guest was told, and returns what it says; nil if it is about one that is over,
// or of a world that has no number while the guest is in one.
func (l *Lobby) elsewhere(g *guest, event []byte) []byte {
	world := uint8(0)
	if event[0] == wire.TagElsewhere {
		var err error
		if world, event, err = wire.ParseElsewhere(event); err != nil {
			return nil
		}
	} else if event[0] != wire.TagReady && event[0] != wire.TagFetch {
		return event
	}
	if world != g.world {
		l.Stats.Count[metrics.StaleMapEpoch].Inc()
		return nil
	}
	return event
}

// here reports whether a package was sent after its client had heard of the world that its player is in: it acknowledges a package
// that was sent after the client's Ready.
func (g *guest) here(data []byte) bool {
	if g.world == 0 || g.settled {
		return true
	}
	h, _, err := wire.ParseHeader(data)
	if err != nil || !g.ready || g.first == 0 {
		return false
	}
	ahead := int16(h.Ack - uint16(g.first))
	g.settled = ahead > maxAhead // no older package is taken any more
	return ahead >= 0
}

// maxAhead is a number of packages that no package can be behind others, and still be taken.
const maxAhead = 1024

// opens notes the first package of a snapshot of the guest's world.
func (g *guest) opens(seq uint16) {
	if g.first == 0 {
		g.first = 1<<16 | uint32(seq)
	}
}
