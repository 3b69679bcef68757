package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/lagcomp"
)

// What follows tells all that came into a match from outside, so that another can be fed the same: see bench/dst.

// Known returns what Know has told of a player's connection, zero for an id without a row.
func (m *Match) Known(id ecs.NetID) lagcomp.Knowledge {
	if at := m.know.Get(id); at != nil {
		return at.Knowledge
	}
	return lagcomp.Knowledge{}
}

// Seen returns what Witness has set, nil for nothing.
func (m *Match) Seen() func(s *lagcomp.Shot, id uint32) bool { return m.seen }

// Last returns the newest command of the player's own that a tick ran with; its Tick is 0 before the first.
func (b *Inbox) Last() Command { return b.last }
