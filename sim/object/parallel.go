package object

import (
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/lagcomp"
)

// castGrain is the least number of sweeps that a part of a loop has.
const castGrain = 4

// loopArgs is what the loop at hand is over.
type loopArgs struct {
	projectiles []Projectile
	grenades    []Grenade
	sweeps      []lagcomp.Sweep
	hits        []lagcomp.Hit
	notes       []lagcomp.CastStats
}

// SetWorkers lets r run the loops over flights and rounds, to the same bits; nil: the caller does.
func (s *Scene) SetWorkers(r parallel.Runner) {
	s.loop.SetRunner(r)
	for r != nil && len(s.forks) < parallel.MaxParts {
		s.forks = append(s.forks, s.Players.Fork())
	}
}

// sweeperFor is who casts for a part.
func (s *Scene) sweeperFor(p parallel.Part) *lagcomp.Sweeper {
	if p.Of == 1 {
		return s.Players
	}
	return s.forks[p.Index]
}

// prepareViews makes everything ready for lanes that sweeps will be judged by.
func (s *Scene) prepareViews(sweeps []lagcomp.Sweep) {
	if s.loop.Parallel() {
		for i := range sweeps {
			s.Players.Prepare(sweeps[i].View)
		}
	}
}

// Cast is Players.Cast, shared.
func (s *Scene) Cast(sweeps []lagcomp.Sweep, hits []lagcomp.Hit) {
	s.prepareViews(sweeps)
	s.shared.sweeps, s.shared.hits = sweeps, hits
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.sweeperFor(p).Cast(s.shared.sweeps[p.From:p.To], s.shared.hits[p.From:p.To])
	})
	s.shared = loopArgs{}
}

// CastWithStats is Players.CastNoted, shared.
func (s *Scene) CastWithStats(sweeps []lagcomp.Sweep, hits []lagcomp.Hit, notes []lagcomp.CastStats) {
	s.prepareViews(sweeps)
	s.shared.sweeps, s.shared.hits, s.shared.notes = sweeps, hits, notes
	s.loop.Run(s, len(sweeps), castGrain, func(s *Scene, p parallel.Part) {
		s.sweeperFor(p).CastWithStats(s.shared.sweeps[p.From:p.To], s.shared.hits[p.From:p.To], s.shared.notes[p.From:p.To])
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
