package kernel

import (
	"math"
	"unsafe"
)

// probe is a ray or a ball made ready: what a kernel compares rows with. Assembly knows the offsets.
type probe struct {
	ox, oy, oz, dx, dy, dz float32
	sx, sz, lo, hi         float32 // what the first test lets pass: a ray's lo <= x*sx + z*sz <= hi, a ball's level distance^2 <= hi
	max, grow, f           float32
	keep, slack, never     float32 // constants: 1-slack, slack, Never
}

// A probe is one cache line.
var _ [64]byte = [unsafe.Sizeof(probe{})]byte{}

// wider makes the first test's squared radius w 5 mm wide at the least: (1+1/256)w + 1/128. At 8 km, x*sx + z*sz, the same of the
// origin and their difference are off by 3.5 mm of rounding together.
func wider(w float32) float32 { return w + float32(w*(1.0/256)) + 1.0/128 }

// probe prepares a ray. Almost everybody is well to the left or right of it, so the first test is the distance from the upright
// plane through the ray, in units of the direction's level length: nothing need be normalised.
func (r *Ray) probe() probe {
	p := probe{
		ox: r.OX, oy: r.OY, oz: r.OZ, dx: r.DX, dy: r.DY, dz: r.DZ, max: r.Max, grow: r.Grow,
		sx: -r.DZ, sz: r.DX, keep: 1 - slack, slack: slack, never: Never,
	}
	level := float32(r.DX*r.DX) + float32(r.DZ*r.DZ)
	if level < 1e-18 { // straight up or down: any plane will do
		p.sx, p.sz, level = 1, 0, 1
	}
	half := float32(math.Sqrt(float64(float32(level * wider(squared(r.Widest)+r.Grow)))))
	middle := float32(r.OX*p.sx) + float32(r.OZ*p.sz)
	p.lo, p.hi = middle-half, middle+half
	return p
}

// probe prepares a ball.
func (s *Ball) probe() probe {
	return probe{
		ox: s.X, oy: s.Y, oz: s.Z, hi: wider(squared(s.Widest) + s.Grow), grow: s.Grow,
		keep: 1 - slack, slack: slack, never: Never,
	}
}

func squared(widest float32) float32 {
	if !(widest > 0) {
		widest = MaxRadius
	}
	return float32(widest * widest)
}
