package sim

import (
	"github.com/tickrate/tickrate/ecs/parallel"
)

// rowGrain is the least number of rows of a part of a system's loop. A row takes a system some 30 to 160 ns; to hand a loop
// over takes a third of a microsecond.
const rowGrain = 64

// shotsGrain is rowGrain for rounds, which take microseconds.
const shotsGrain = 4

// SetWorkers lets r run the loops of the systems that go row by row, in parts, from the next tick on: see package split. nil, as at
// first: the caller of Step does, and nobody else. What the match becomes does not depend on it, to the last bit. The match
// starts no goroutine itself; r's may only be in its loops while Step, or Run, is.
//
// Shared are: commands, abilities, move, animate, record (its rows), combat (where each round ends and what it hits), projectiles and
// grenades (their ways and what they meet). What they bring about is put together in the order of rows, and everything with
// effects on others is done by the caller alone.
func (m *Match) SetWorkers(r parallel.Runner) {
	s := m.scratch
	s.loop.SetRunner(r)
	m.Scene().SetWorkers(r)
	for i := range s.actionParts {
		if r != nil && s.actionParts[i] == nil {
			s.actionParts[i] = make([]playerAction, 0, parallel.PartSize(len(s.input), s.grain))
		}
	}
}

// Wake says that a tick will be played in some 50 us: whoever shares its loops and sleeps takes so long to wake. It need not be called.
func (m *Match) Wake() { m.scratch.loop.Wake() }

// parallelRows runs a loop over n rows, whole or in parts, and returns how many those were.
func (c *columns) parallelRows(n int, do func(*columns, parallel.Part)) (parts int) {
	return c.scratch.loop.Run(c, n, c.scratch.grain, do)
}
