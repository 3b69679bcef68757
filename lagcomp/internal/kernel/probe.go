package kernel

import (
	"math"
	"unsafe"
)

// probe is a ray or a ball prepared for comparison with rows. The assembly relies on the offsets.
type probe struct {
	ox, oy, oz, dx, dy, dz float32
	// bounds of the first test: a ray's lo <= x*sx + z*sz <= hi, a ball's level distance^2 <= hi
	sx, sz, lo, hi     float32
	max, grow, _       float32
	keep, slack, never float32 // constants: 1-slack, slack, Never
}

// A probe is one cache line.
var _ [64]byte = [unsafe.Sizeof(probe{})]byte{}

// withSlack makes the first test's squared radius w at least 5 mm wider: (1+1/256)w + 1/128. At 8
// km, the rounding of x*sx + z*sz, of the same for the origin and of their difference is 3.5 mm
// together.
func withSlack(w float32) float32 { return w + float32(w*(1.0/256)) + 1.0/128 }

// ray prepares a ray, in place, as a copy would wait for its parts. Almost all rows are well to
// the left or right, so the first test is the distance from the upright plane through the ray, in
// units of the direction's level length: no normalisation is needed.
func (p *probe) ray(r *Ray) {
	p.line(r)
	sx, sz, level := -r.DZ, r.DX, float32(r.DX*r.DX)+float32(r.DZ*r.DZ)
	if level < 1e-18 { // straight up or down: any plane will do
		sx, sz, level = 1, 0, 1
	}
	half := float32(math.Sqrt(float64(float32(level * withSlack(widestSq(r.Widest)+r.Grow)))))
	middle := float32(r.OX*sx) + float32(r.OZ*sz)
	p.sx, p.sz, p.lo, p.hi = sx, sz, middle-half, middle+half
}

// line prepares the full test.
func (p *probe) line(r *Ray) {
	p.ox, p.oy, p.oz = r.OX, r.OY, r.OZ
	p.dx, p.dy, p.dz = r.DX, r.DY, r.DZ
	p.max, p.grow = r.Max, r.Grow
	p.keep, p.slack, p.never = 1-slack, slack, Never
}

// ball prepares a ball.
func (p *probe) ball(s *Ball) {
	p.ox, p.oy, p.oz = s.X, s.Y, s.Z
	p.grow, p.hi = s.Grow, withSlack(widestSq(s.Widest)+s.Grow)
	p.keep, p.slack, p.never = 1-slack, slack, Never
}

func widestSq(widest float32) float32 {
	if !(widest > 0) {
		widest = MaxRadius
	}
	return float32(widest * widest)
}
