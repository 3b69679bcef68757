package sim

import "github.com/tickrate/tickrate/lagcomp"

// What follows tells all that came into a match from outside, so that another can be fed the same: see bench/dst.

// Seen returns what Witness has set, nil for nothing.
func (m *Match) Seen() func(s *lagcomp.Sweep, id uint32) bool { return m.seen }

// Beholds returns what Behold has set, nil for nothing.
func (m *Match) Beholds() func(s *Shot) ([]Beheld, []uint64) { return m.how }

// Last returns the newest command of the player's own that a tick ran with; its Tick is 0 before the first.
func (b *Inbox) Last() Command { return b.last }
