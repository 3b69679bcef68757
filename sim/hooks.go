package sim

import "github.com/tickrate/tickrate/lagcomp"

// Name follows tells all that came into a match from outside, so that another can be fed the same: see bench/dst.

// HitFilter returns what Witness has set, nil for nothing.
func (m *Match) HitFilter() func(s *lagcomp.Sweep, id uint32) bool { return m.hitFilter }

// ViewResolver returns what ShotTargetView has set, nil for nothing.
func (m *Match) ViewResolver() func(s *Shot) ([]TargetView, []uint64) { return m.viewResolver }

// Last returns the newest command of the player's own that a tick ran with; its Tick is 0 before the first.
func (b *CommandBuffer) Last() Command { return b.last }
