package lagcomp

import "github.com/tickrate/tickrate/ecs/tick"

// Fork returns a sweeper for Cast and CastSeen alone that may be called while other forks of s are, each by one caller. It looks
// things up in the indexes of s and builds none: call s.Prepare before for every view that will be asked for, and leave s and its
// history alone meanwhile. What was not prepared, or was displaced since, is searched row by row, to the same hits.
func (s *Sweeper) Fork() *Sweeper {
	return &Sweeper{h: s.h, index: s.index, candidates: make([]int32, 0, s.h.slots), ways: newWays(true, s.h.slots), sieve: newSieve(s.h.slots), wide: s.wide, worth: s.worth}
}

// Prepare builds what forks need to answer a question at a view, if it is not there yet and pays: it counts each as asked. Views without
// history need nothing.
func (s *Sweeper) Prepare(v tick.View) {
	a, b := s.h.between(v)
	if a == nil {
		return
	}
	s.of(a)
	if v.Frac != 0 && a != b {
		s.ways.reach(s.h, a, b)
	}
}
