package object

import (
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/lagcomp"
)

// castGrain is the least number of sweeps of a part of a loop.
const castGrain = 4

// loopArgs is the data of the loop at hand.
type loopArgs struct {
	projectiles []Projectile
	grenades    []Grenade
	sweeps      []lagcomp.Sweep
	hits        []lagcomp.Hit
	notes       []lagcomp.CastStats
}

// SetWorkers lets r run the loops over projectiles, grenades and shots, to the same bits; nil: the
// caller does.
func (s *Scene) SetWorkers(r parallel.Runner) {
	s.loop.SetRunner(r)
	for r != nil && len(s.forks) < parallel.MaxParts {
		s.forks = append(s.forks, s.Players.Fork())
	}
}

// sweeperFor is the sweeper of a part.
func (s *Scene) sweeperFor(p parallel.Part) *lagcomp.Sweeper {
	if p.Of == 1 {
		return s.Players
	}
	return s.forks[p.Index]
}

// prepareViews prepares the views of sweeps for the forks.
func (s *Scene) prepareViews(sweeps []lagcomp.Sweep) {
	if s.loop.Parallel() {
		for i := range sweeps {
			s.Players.Prepare(sweeps[i].View)
		}
	}
}

// Cast is Players.Cast in parallel.
func (s *Scene) Cast(sweeps []lagcomp.Sweep, hits []lagcomp.Hit) {
	s.prepareViews(sweeps)
	s.shared.sweeps, s.shared.hits = sweeps, hits
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.sweeperFor(p).Cast(s.shared.sweeps[p.From:p.To], s.shared.hits[p.From:p.To])
	})
	s.shared = loopArgs{}
}

// CastWithStats is Players.CastWithStats in parallel.
func (s *Scene) CastWithStats(sweeps []lagcomp.Sweep, hits []lagcomp.Hit, notes []lagcomp.CastStats) {
	s.prepareViews(sweeps)
	s.shared.sweeps, s.shared.hits, s.shared.notes = sweeps, hits, notes
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.sweeperFor(p).CastWithStats(s.shared.sweeps[p.From:p.To], s.shared.hits[p.From:p.To],
			s.shared.notes[p.From:p.To])
	})
	s.shared = loopArgs{}
}

// growHits makes room for a hit of each sweep.
func (s *Scene) growHits() {
	if cap(s.hits) < len(s.sweeps) {
		s.hits = make([]lagcomp.Hit, 2*len(s.sweeps))
	}
	s.hits = s.hits[:len(s.sweeps)]
}
