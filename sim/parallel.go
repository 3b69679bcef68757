package sim

import (
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/sim/move"
)

// rowGrain is the least number of rows of a part of a system's loop. A row takes a system 30 to
// 160 ns; handing a loop over takes a third of a microsecond.
const rowGrain = 64

// shotsGrain is rowGrain for shots, which take microseconds.
const shotsGrain = 4

// SetWorkers lets r run the loops of row-by-row systems in parts, from the next tick on: see
// package parallel. nil, the default, runs them in the caller of Step. The match is the same to
// the last bit either way. The match starts no goroutine; those of r may run its loops only during
// Step or Run.
//
// Parallel are: commands, abilities, move, animate, record (its rows), combat (where each shot
// ends and what it hits), projectiles and grenades (their movement and hits). Their results are
// combined in the order of rows, and the caller alone does everything that affects other rows.
func (m *Match) SetWorkers(r parallel.Runner) {
	s := m.scratch
	s.loop.SetRunner(r)
	m.Scene().SetWorkers(r)
	for i := range s.actionParts {
		if r != nil && s.actionParts[i] == nil {
			s.actionParts[i] = make([]playerAction, 0, parallel.PartSize(len(s.input), s.grain))
		}
		if r != nil && s.moveBatches[i] == nil {
			s.moveBatches[i] = new(move.Batch)
		}
	}
}

// Wake announces a tick in about 50 us, the time that sleeping workers take to wake. Calling it is
// optional.
func (m *Match) Wake() { m.scratch.loop.Wake() }

// parallelRows runs a loop over n rows, whole or in parts, and returns the number of parts.
func (c *columns) parallelRows(n int, do func(*columns, parallel.Part)) (parts int) {
	return c.scratch.loop.Run(c, n, c.scratch.grain, do)
}
