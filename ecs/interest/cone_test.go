package interest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The span of a row has the cells with centres at most 45 degrees off the view. Cells on the edge,
// by the precision of float32, may differ.
func TestConeIs45Degrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	g := NewGrid(Config{Slots: 1, MinX: -20, MinZ: 7, Cell: 4, Wide: 30, Deep: 20})
	inside, outside := 0, 0
	for n := range 3000 {
		v := Viewer{X: rng.Float32()*160 - 40, Z: rng.Float32()*120 - 10, DirX: rng.Float32() - 0.5,
			DirZ: rng.Float32() - 0.5}
		if n < 300 { // along and across the axes
			v.DirX, v.DirZ = float32(n%3-1), float32(n/3%3-1)
			if v.DirX == 0 && v.DirZ == 0 {
				continue
			}
		}
		c := g.newCone(v)
		length := math.Hypot(float64(v.DirX), float64(v.DirZ))
		dirX, dirZ := float64(v.DirX)/length, float64(v.DirZ)/length
		x, z := (float64(v.X)+20)/4-dirX*math.Sqrt2/2, (float64(v.Z)-7)/4-dirZ*math.Sqrt2/2
		for row := range 20 {
			first, last := c.span(row, 30)
			for column := range 30 {
				dx, dz := float64(column)+0.5-x, float64(row)+0.5-z
				angle := math.Abs(math.Atan2(dirX*dz-dirZ*dx, dirX*dx+dirZ*dz)) * 180 / math.Pi
				in := first <= column && column <= last
				if math.Abs(angle-45) > 0.01 && in != (angle < 45) {
					t.Fatalf("view %v: cell %d, %d at %.3f degrees: in the cone %v",
						v, column, row, angle, in)
				}
				if in {
					inside++
				} else {
					outside++
				}
			}
		}
	}
	if inside < 10000 || outside < 10000 {
		t.Errorf("%d cells inside, %d outside: this tests nothing", inside, outside)
	}
}

// A direction that is not a number has no cone.
func TestConeOfInvalidViews(t *testing.T) {
	g := NewGrid(Config{Slots: 1})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, v := range []Viewer{{DirX: nan, DirZ: 1}, {DirX: inf, DirZ: 1}, {X: nan, DirX: 1},
		{X: inf, DirX: 1}, {DirX: 1e-40, DirZ: 1e-40}, {DirX: 1e38, DirZ: 1e38}} {
		c := g.newCone(v)
		for row := range g.cfg.Deep {
			if first, last := c.span(row, g.cfg.Wide); first < 0 || last >= g.cfg.Wide {
				t.Errorf("case %d: columns %d to %d", i, first, last)
			}
		}
	}
}
