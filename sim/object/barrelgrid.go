package object

import "github.com/tickrate/tickrate/ecs/geom"

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
	start [gridSide*gridSide + 1]int32
	rows  []int32
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
	for i := range s.Barrels {
		y.start[gridCell(s.Barrels[i].square())]++
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
func (b *Barrel) square() (x, z int) {
	const far = 1 << 11
	return int(float32(b.Pos.X*(1/gridSize))+far) - far, int(float32(b.Pos.Z*(1/gridSize))+far) - far
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
