package client

import (
	"time"

	"github.com/tickrate/tickrate/sim"
)

// missed tells the server how often we mispredicted: after each change twice, since a note may be lost, and at most once a second. A
// client that never does says nothing.
type missed struct {
	told  uint64
	again int           // notes that are due
	at    time.Duration // of the last
}

const (
	missedEvery = time.Second
	missedTimes = 2
	noteBudget  = 16 // bytes of a package that notes may take
)

// due takes in how often it was by now, and reports whether to say so.
func (m *missed) due(now time.Duration, count uint64) bool {
	if count != m.told {
		m.told, m.again = count, missedTimes
	}
	if m.again == 0 || m.at != 0 && now-m.at < missedEvery {
		return false
	}
	m.again--
	m.at = now
	return true
}

// confess puts the note that is due, if one is, into the next package.
func (c *Client) confess(now time.Duration) {
	if c.missed.due(now, c.predict.count.Mispredictions) {
		var note [5]byte
		_ = c.peer.QueueUnreliable(sim.AppendMispredictions(note[:0], uint32(c.missed.told))) // there is room: no other notes go out
	}
}
