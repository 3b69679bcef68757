package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// Fork returns a sweeper for Cast and CastSeen alone that may be called while other forks of s are, each by one caller. It looks
// things up in the indexes of s and builds none: call s.Prepare before for every view that will be asked for, and leave s and its
// history alone meanwhile. What was not prepared, or was displaced since, is searched row by row, to the same hits.
func (s *Sweeper) Fork() *Sweeper {
	return &Sweeper{h: s.h, indices: s.indices, candidates: make([]int32, 0, s.h.slots), bounds: forkBounds(s.h.slots), narrowPhase: newNarrowPhase(s.h.slots), squareCost: s.squareCost, indexMinRows: s.indexMinRows}
}

// forkBounds are the motion bounds of a fork.
func forkBounds(slots int) motionBounds {
	b := newMotionBounds(slots)
	b.fork = true
	return b
}

// Prepare builds what forks need to answer a question at a view, if it is not there yet and pays: it counts each as asked. Views without
// history need nothing.
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
