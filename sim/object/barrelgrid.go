package object

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Implementation constants of the barrel grid.
const (
	gridBits       = 5  // squares along a side, as a power of two; a larger map wraps around
	gridSize       = 8. // metres along a square
	gridMinBarrels = 16 // fewer barrels are tested one by one
	gridSide       = 1 << gridBits
)

// barrelGrid lists barrels by grid square: rows[start[c]:start[c+1]]. Barrels do not move, so it
// is built once. The zero value is empty.
type barrelGrid struct {
	start    [gridSide*gridSide + 1]int32
	rows     []int32
	occupied [gridSide]uint32 // bit x of word z: the square has barrels
}

// PlaceBarrels builds the grid after many barrels were placed; without it, and for few barrels,
// sweeps test each. Barrels may break and be restored without it.
func (s *Scene) PlaceBarrels() {
	y := &s.barrelGrid
	y.rows = y.rows[:0]
	if len(s.Barrels) <= gridMinBarrels {
		return
	}
	clear(y.start[:])
	clear(y.occupied[:])
	for i := range s.Barrels {
		c := gridCell(s.Barrels[i].square())
		y.start[c]++
		y.occupied[c>>gridBits] |= 1 << (c & (gridSide - 1))
		y.rows = append(y.rows, 0)
	}
	total := int32(0)
	for c := range y.start {
		total += y.start[c]
		y.start[c] = total
	}
	for i := len(s.Barrels) - 1; i >= 0; i-- {
		c := gridCell(s.Barrels[i].square())
		y.start[c]--
		y.rows[y.start[c]] = int32(i)
	}
}

// square is the grid square of a barrel. Positions are within 16 km.
func (b *Barrel) square() (x, z int) { return gridSquare(b.Pos.X), gridSquare(b.Pos.Z) }

func gridSquare(x float32) int {
	const far = 1 << 11
	return int(float32(x*(1/gridSize))+far) - far
}

// mayHold reports false if the squares around a path, grown by a reach, have no barrels. It answers
// for paths within a few squares; others it does not look at.
func (y *barrelGrid) mayHold(r *geom.Ray, reach float32) bool {
	if !(r.Max <= gridSize) || !(reach <= gridSize) || !(geom.Abs(r.Origin.X) <= 8000) ||
		!(geom.Abs(r.Origin.Z) <= 8000) {
		return true
	}
	reach += geom.StripSlack
	end := r.At(r.Max)
	x0, x1 := gridSquare(min(r.Origin.X, end.X)-reach), gridSquare(max(r.Origin.X, end.X)+reach)
	z0, z1 := gridSquare(min(r.Origin.Z, end.Z)-reach), gridSquare(max(r.Origin.Z, end.Z)+reach)
	if uint(z1-z0) >= gridSide || uint(x1-x0) >= gridSide {
		return true
	}
	found := uint32(0)
	for z := z0; z <= z1; z++ {
		found |= bits.RotateLeft32(y.occupied[z&(gridSide-1)], -x0)
	}
	return found&(2<<(x1-x0)-1) != 0
}

func gridCell(x, z int) int { return z&(gridSide-1)<<gridBits | x&(gridSide-1) }

// gridStrip is the squares of barrels that a ball may touch. It reports false if testing each
// barrel is cheaper, or the grid is not of these barrels.
func (s *Scene) gridStrip(r geom.Ray, reach float32) (strip geom.Strip, ok bool) {
	n := len(s.barrelGrid.rows)
	if n == 0 || n != len(s.Barrels) || !r.Origin.Finite() || !r.Dir.Finite() || !(r.Max <= 16000) ||
		!(reach <= 16) {
		return strip, false
	}
	strip = geom.NewStrip(r, reach, gridSize)
	return strip, 2*strip.Squares() < n
}
