package lagcomp

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// index lists the living rows of one tick by grid square: from head[square] on, in ascending
// order. Entries are row numbers plus one; 0 ends a list.
type index struct {
	tick    tick.Tick // 0: none
	queries int       // for that tick so far
	built   bool
	head    []uint32    // gridSide*gridSide
	nodes   []indexNode // by row
	// bit x of word z: the square has rows. Most squares have none, and one word tells of all in
	// line.
	occupied [gridSide]uint64
	low      float32 // feet of the lowest player
	high     float32 // feet of the highest player
}

// indexNode is a row in the list of its square: all that a query compares, in one place.
type indexNode struct {
	x, y, z float32 // feet
	link    uint32  // the next entry << teamBits | team
}

const teamBits = 2 // of rig.Pose.Team

// next returns the next entry of the list.
func (n *indexNode) next() uint32 { return n.link >> teamBits }

func (n *indexNode) team() uint8 { return uint8(n.link & (1<<teamBits - 1)) }

// defaultIndexAfter is how many queries about one tick are answered row by row before its index is
// built. Building takes about as long as those queries: 1.6 µs for 500 players and 3 µs for 1000,
// to save 0.1 µs a query. A lobby of 500 looks two or three times as often at a tick, or far less
// often if round trips differ.
var defaultIndexAfter = func() int {
	if kernel.Vectorized() {
		return 16
	}
	return 2
}()

// defaultIndexMinRows is the fewest rows that are indexed: fewer are tested in the time of a walk
// over some squares.
var defaultIndexMinRows = func() int {
	if kernel.Vectorized() {
		return 256
	}
	return 16
}()

// indexOf returns the index of a frame, or nil if it has few rows or had few queries. A fork
// counts nothing.
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

// expectQueries announces n queries about the tick of a view.
func (s *Sweeper) expectQueries(v tick.View, n int) {
	f, _ := s.h.viewFrames(v)
	if f == nil || n <= s.indexAfter || f.rowCount < s.indexMinRows || s.bounds.fork {
		return
	}
	if in := &s.indices[int(f.tick)%maxIndices]; in.tick != f.tick || !in.built {
		in.tick = f.tick
		in.build(f)
	}
}

// builtIndex is the index of a frame if it is built already.
func (s *Sweeper) builtIndex(f *frame) *index {
	if in := &s.indices[int(f.tick)%maxIndices]; in.tick == f.tick && in.built {
		return in
	}
	return nil
}

// line returns the squares x to x+n-1 of row z that have rows, as bits from x on; n is at most
// gridSide.
func (in *index) line(x, z, n int) uint64 {
	return bits.RotateLeft64(in.occupied[z&(gridSide-1)], -x) & (1<<n - 1)
}

// block returns the squares of up to 16 columns from x on and up to 4 rows from z on that have
// rows: bit 16*j+i is square (x+i, z+j).
func (in *index) block(x, z, columns, rows int) uint64 {
	o := &in.occupied
	const side = gridSide - 1
	words := bits.RotateLeft64(o[z&side], -x)&0xffff | bits.RotateLeft64(o[(z+1)&side], -x)&0xffff<<16 |
		bits.RotateLeft64(o[(z+2)&side], -x)&0xffff<<32 | bits.RotateLeft64(o[(z+3)&side], -x)<<48
	return words & ((1<<columns - 1) * 0x0001_0001_0001_0001) & (1<<(16*rows) - 1)
}

// build goes through the rows backwards, so that each list ascends. Rows beyond WorldReach, where
// squares mean nothing, cannot be hit.
func (in *index) build(f *frame) {
	n := f.rowCount
	x, y, z, nr2, head, nodes := f.x[:n], f.y[:n], f.z[:n], f.nr2[:n], in.head, in.nodes[:n]
	low, high := float32(2*WorldReach), float32(-2*WorldReach)
	clear(head)
	in.occupied = [gridSide]uint64{}
	for i := n - 1; i >= 0; i-- {
		if nr2[i] == kernel.Never {
			continue
		}
		if y[i] < low { // false for NaN
			low = y[i]
		}
		if y[i] > high {
			high = y[i]
		}
		const far = 1 << 16
		cx, cz := int32(float32(x[i]*(1/gridSize))+far), int32(float32(z[i]*(1/gridSize))+far)
		c := cz&(gridSide-1)<<gridBits | cx&(gridSide-1)
		nodes[i] = indexNode{x[i], y[i], z[i], head[c]<<teamBits | uint32(f.rows[i].Team())}
		head[c] = uint32(i + 1)
		in.occupied[c>>gridBits&(gridSide-1)] |= 1 << (c & (gridSide - 1))
	}
	in.low, in.high, in.built = low, high, true
}
