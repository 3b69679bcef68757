package object

import "github.com/tickrate/tickrate/ecs/geom"

// Implementation constants of the yard.
const (
	yardBits = 5  // squares along a side, as a power of two; a larger map wraps round
	yardSize = 8. // metres along a square
	yardFew  = 16 // so few barrels are asked one by one
	yardSide = 1 << yardBits
)

// yard lists barrels by squares of the ground: rows[start[c]:start[c+1]]. They do not move, so it is built once. The zero yard
// knows of none.
type yard struct {
	start [yardSide*yardSide + 1]int32
	rows  []int32
}

// PlaceBarrels must be called when barrels were put anywhere, if there are many: until it is, and for few, sweeps ask each.
// Barrels may break and be whole again without it.
func (s *Scene) PlaceBarrels() {
	y := &s.yard
	y.rows = y.rows[:0]
	if len(s.Barrels) <= yardFew {
		return
	}
	clear(y.start[:])
	for i := range s.Barrels {
		y.start[yardCell(s.Barrels[i].square())]++
		y.rows = append(y.rows, 0)
	}
	total := int32(0)
	for c := range y.start {
		total += y.start[c]
		y.start[c] = total
	}
	for i := len(s.Barrels) - 1; i >= 0; i-- {
		c := yardCell(s.Barrels[i].square())
		y.start[c]--
		y.rows[y.start[c]] = int32(i)
	}
}

// square is where a barrel is listed. Positions are within 16 km.
func (b *Barrel) square() (x, z int) {
	const far = 1 << 11
	return int(float32(b.Pos.X*(1/yardSize))+far) - far, int(float32(b.Pos.Z*(1/yardSize))+far) - far
}

func yardCell(x, z int) int { return z&(yardSide-1)<<yardBits | x&(yardSide-1) }

// strip is the squares in which a barrel may stand that a ball touches; false if it is less work to ask each barrel, or the
// yard is not of these barrels.
func (s *Scene) strip(r geom.Ray, reach float32) (strip geom.Strip, ok bool) {
	n := len(s.yard.rows)
	if n == 0 || n != len(s.Barrels) || !r.Origin.Finite() || !r.Dir.Finite() || !(r.Max <= 16000) || !(reach <= 16) {
		return strip, false
	}
	strip = geom.NewStrip(r, reach, yardSize)
	return strip, 2*strip.Squares() < n
}
