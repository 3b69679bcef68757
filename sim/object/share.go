package object

import (
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/lagcomp"
)

// castGrain is the least number of sweeps that a part of a loop has.
const castGrain = 4

// task is what the loop at hand is over.
type task struct {
	projectiles []Projectile
	grenades    []Grenade
	sweeps      []lagcomp.Sweep
	hits        []lagcomp.Hit
	notes       []lagcomp.CastStats
}

// SetWorkers lets r run the loops over flights and rounds, to the same bits; nil: the caller does.
func (s *Scene) SetWorkers(r parallel.Runner) {
	s.loop.Share(r)
	for r != nil && len(s.lanes) < parallel.MaxParts {
		s.lanes = append(s.lanes, s.Players.Fork())
	}
}

// lane is who casts for a part.
func (s *Scene) lane(p parallel.Part) *lagcomp.Sweeper {
	if p.Of == 1 {
		return s.Players
	}
	return s.lanes[p.Index]
}

// prepare makes everything ready for lanes that sweeps will be judged by.
func (s *Scene) prepare(sweeps []lagcomp.Sweep) {
	if s.loop.Shared() {
		for i := range sweeps {
			s.Players.Prepare(sweeps[i].View)
		}
	}
}

// Cast is Players.Cast, shared.
func (s *Scene) Cast(sweeps []lagcomp.Sweep, hits []lagcomp.Hit) {
	s.prepare(sweeps)
	s.task.sweeps, s.task.hits = sweeps, hits
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.lane(p).Cast(s.task.sweeps[p.From:p.To], s.task.hits[p.From:p.To])
	})
	s.task = task{}
}

// CastWithStats is Players.CastNoted, shared.
func (s *Scene) CastWithStats(sweeps []lagcomp.Sweep, hits []lagcomp.Hit, notes []lagcomp.CastStats) {
	s.prepare(sweeps)
	s.task.sweeps, s.task.hits, s.task.notes = sweeps, hits, notes
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.lane(p).CastWithStats(s.task.sweeps[p.From:p.To], s.task.hits[p.From:p.To], s.task.notes[p.From:p.To])
	})
	s.task = task{}
}

// room makes room for a hit of each sweep.
func (s *Scene) room() {
	if cap(s.hits) < len(s.sweeps) {
		s.hits = make([]lagcomp.Hit, 2*len(s.sweeps))
	}
	s.hits = s.hits[:len(s.sweeps)]
}
