package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// Fork returns a sweeper for Cast and CastFiltered alone that may be called while other forks of s
// are, each by one goroutine. It uses the indices of s and builds none: call s.Prepare beforehand
// for every view that will be asked for, and leave s and its history alone meanwhile. Views that
// were not prepared, or were displaced since, are searched row by row, to the same hits.
func (s *Sweeper) Fork() *Sweeper {
	f := &Sweeper{h: s.h, indices: s.indices, candidates: make([]int32, 0, s.h.slots+maxFastMovers),
		bounds: forkBounds(s.h.slots), narrowPhase: newNarrowPhase(s.h.slots), squareCost: s.squareCost,
		indexMinRows: s.indexMinRows}
	if s.castBatch.cells != nil {
		f.castBatch = newCastBatch()
	}
	return f
}

// forkBounds makes the motion bounds of a fork, which never writes frames.
func forkBounds(slots int) motionBounds {
	b := newMotionBounds(slots)
	b.fork = true
	return b
}

// Prepare builds the index that forks need for a view, if it is missing and worth its cost; each
// call counts as a query. A view without history needs nothing.
func (s *Sweeper) Prepare(v tick.View) {
	a, b := s.h.viewFrames(v)
	if a == nil {
		return
	}
	s.indexOf(a)
	if v.Frac != 0 && a != b {
		s.bounds.reach(s.h, a, b)
	}
}
