package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// indices lists the living rows of one tick by squares of the ground: from head[square] on along next, in ascending order. Numbers are
// those of rows and one more; 0 ends a list.
type index struct {
	tick    tick.Tick // 0: none
	queries int       // questions about that tick so far
	built   bool
	head    []int32 // gridSide*gridSide
	next    []int32 // a row each
	low     float32 // feet of the lowest and the highest
	high    float32
}

// defaultIndexAfter is how many questions about one tick are answered row by row before its index is built, which takes about as long as they
// did: 1.6 µs for 500 players and 3 for 1000, to spare each question 0.1. Two or three times that many shots look at each tick of a
// lobby of 500, or far fewer, as round trips differ; nobody knows before.
var defaultIndexAfter = func() int {
	if kernel.Vectorized() {
		return 16
	}
	return 2
}()

// defaultIndexMinRows is of how many rows at least an index may be built: fewer are looked at in the time that a walk over some squares takes.
var defaultIndexMinRows = func() int {
	if kernel.Vectorized() {
		return 256
	}
	return 16
}()

// indexOf returns the index of a frame, or nil if it has few rows, or if so few asked for it that there is none yet. A fork counts nothing.
func (s *Sweeper) indexOf(f *frame) *index {
	if f.rowCount < s.indexMinRows {
		return nil
	}
	in := &s.indices[int(f.tick)%maxIndices]
	if s.bounds.fork {
		if in.tick == f.tick && in.built {
			return in
		}
		return nil
	}
	if in.tick != f.tick {
		in.tick, in.queries, in.built = f.tick, 0, false
	}
	if in.built {
		return in
	}
	if in.queries++; in.queries <= s.indexAfter {
		return nil
	}
	in.build(f)
	return in
}

// build goes through the rows from the back, so that each is put before those of its square that come after it. Whoever stands beyond
// WorldReach, where squares mean nothing, cannot be hit.
func (in *index) build(f *frame) {
	n := f.rowCount
	x, y, z, nr2, head, next := f.x[:n], f.y[:n], f.z[:n], f.nr2[:n], in.head, in.next[:n]
	low, high := float32(2*WorldReach), float32(-2*WorldReach)
	clear(head)
	for i := n - 1; i >= 0; i-- {
		if nr2[i] == kernel.Never {
			continue
		}
		if y[i] < low { // no NaN is
			low = y[i]
		}
		if y[i] > high {
			high = y[i]
		}
		const far = 1 << 16
		cx, cz := int32(float32(x[i]*(1/gridSize))+far), int32(float32(z[i]*(1/gridSize))+far)
		c := cz&(gridSide-1)<<gridBits | cx&(gridSide-1)
		next[i], head[c] = head[c], int32(i+1)
	}
	in.low, in.high, in.built = low, high, true
}
