package sim

import "github.com/tickrate/tickrate/lagcomp"

// Accessors of the inputs of a match, so that another match can be given the same: see bench/dst.

// HitFilter returns the hit filter, nil for none.
func (m *Match) HitFilter() func(s *lagcomp.Sweep, id uint32) bool { return m.hitFilter }

// ViewResolver returns the view resolver, nil for none.
func (m *Match) ViewResolver() ViewResolver { return m.viewResolver }

// InputLog returns what SetInputLog was given last.
func (m *Match) InputLog() *TickInputs { return m.inputLog }

// Last returns the newest of the player's own commands that a tick ran with; its Tick is 0 before
// the first.
func (b *CommandBuffer) Last() Command { return b.last }
