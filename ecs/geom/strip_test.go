package geom

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Every point under the ball's path lies in a square of the strip, also if squares are numbered
// with some rounding, and Squares is never too small. The twin walks the path in small steps.
func TestStripHoldsThePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		far := rapid.SampledFrom([]float32{10, 300, 8000}).Draw(t, "far")
		yaw := Angle(rapid.Uint16().Draw(t, "yaw"))
		pitch := Angle(rapid.Int16Range(-0x4000, 0x4000).Draw(t, "pitch"))
		if rapid.Bool().Draw(t, "along an axis") {
			yaw = yaw&^0x3fff + yaw&1
		}
		r := Ray{Origin: Vec3{X: rapid.Float32Range(-far, far).Draw(t, "x"),
			Z: rapid.Float32Range(-far, far).Draw(t, "z")}, Dir: Forward(yaw, pitch),
			Max: rapid.Float32Range(0, 200).Draw(t, "max")}
		radius := rapid.Float32Range(0, 12).Draw(t, "radius")
		size := rapid.SampledFrom([]float32{2, 4, 8}).Draw(t, "size")
		s := NewStrip(r, radius, size)
		count := 0
		for z := s.Z0; z <= s.Z1; z++ {
			x0, x1 := s.Row(z)
			count += max(0, x1-x0+1)
		}
		if count > s.Squares() {
			t.Fatalf("%d squares, said to be at most %d", count, s.Squares())
		}
		number := func(v float64) int { return int(math.Floor(v / float64(size))) }
		for step := range 101 {
			way := float64(r.Max) * float64(step) / 100
			x, z := float64(r.Origin.X)+way*float64(r.Dir.X), float64(r.Origin.Z)+way*float64(r.Dir.Z)
			for turn := range 16 {
				sin, cos := math.Sincos(float64(turn) * math.Pi / 8)
				px, pz := x+sin*float64(radius), z+cos*float64(radius)
				for _, off := range []float64{0, -StripSlack / 2, StripSlack / 2} {
					sx, sz := number(px+off), number(pz+off)
					if sz < s.Z0 || sz > s.Z1 {
						t.Fatalf("row %d is not of %d to %d", sz, s.Z0, s.Z1)
					}
					if x0, x1 := s.Row(sz); sx < x0 || sx > x1 {
						t.Fatalf("square %d of row %d is not of %d to %d; %v, radius %v, size %v",
							sx, sz, x0, x1, r, radius, size)
					}
				}
			}
		}
	})
}

// A strip is narrow: across a map, a tenth of the box round it.
func TestStripIsNarrow(t *testing.T) {
	s := NewStrip(Ray{Dir: Vec3{X: 0.8, Z: 0.6}, Max: 300}, 1.5, 4)
	n := 0
	for z := s.Z0; z <= s.Z1; z++ {
		x0, x1 := s.Row(z)
		n += x1 - x0 + 1
	}
	if box := (s.Z1 - s.Z0 + 1) * 61; n*10 > box || n < 60 {
		t.Errorf("%d squares, %d in the box", n, box)
	}
}
