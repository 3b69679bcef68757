package kernel

import (
	"math"
	"math/bits"
)

// nearest lets a kernel find the rows that may be nearer than the best so far, and judges each in float64.
func nearest(k isa, r Ray, c *Column, n int) (index int, t float32) {
	p := r.probe()
	v := verdict{limit: float64(r.Max), inverse: 1 / (square(r.DX) + square(r.DY) + square(r.DZ))}
	index = -1
	for from := 0; from < n; {
		at, named := k.next(&p, c, n, from)
		for from = at + k.lanes(); named != 0; named &= named - 1 {
			i := at + bits.TrailingZeros32(named)
			if v.judge(&r, c.X[i], c.Y[i], c.Z[i], c.NR2[i]) {
				index = i
				p.max = v.cutAt(p.max)
			}
		}
	}
	if index < 0 {
		return -1, 0
	}
	return index, float32(v.limit)
}

// verdict is the nearest hit so far.
type verdict struct {
	limit   float64 // metres: what comes must be nearer, or as near where there was no hit yet
	hit     bool
	inverse float64 // 1 / squared length of the direction
}

// judge reports whether the ray enters a sphere before the limit, and moves the limit there. Differences of float32 are exact in
// float64 but for numbers 2^29 apart, so what is rounded is the nearest point of the line, by some 1e-16 of its distance.
func (v *verdict) judge(r *Ray, x, y, z, nr2 float32) bool {
	cx, cy, cz := float64(x)-float64(r.OX), float64(y)-float64(r.OY), float64(z)-float64(r.OZ)
	dx, dy, dz := float64(r.DX), float64(r.DY), float64(r.DZ)
	square := float64(r.Grow) - float64(nr2)
	if float64(cx*cx)+float64(cy*cy)+float64(cz*cz) <= square {
		return v.cut(0)
	}
	along := float64(cx*dx) + float64(cy*dy) + float64(cz*dz)
	if !(along > 0) {
		return false
	}
	s := along * v.inverse
	cx, cy, cz = cx-float64(s*dx), cy-float64(s*dy), cz-float64(s*dz)
	deep := square - (float64(cx*cx) + float64(cy*cy) + float64(cz*cz))
	if !(deep >= 0) {
		return false
	}
	return v.cut(max(s-math.Sqrt(deep*v.inverse), 0))
}

// cut moves the limit to t if that is nearer.
func (v *verdict) cut(t float64) bool {
	if !(t < v.limit || t == v.limit && !v.hit) {
		return false
	}
	v.limit, v.hit = t, true
	return true
}

// cutAt is where a kernel may cut the ray now, which it did at max before: at the limit if the direction is of unit length, so that
// nothing nearer can be lost. Otherwise rows would be named by the order in which they are looked at, and that is each kernel's own.
func (v *verdict) cutAt(max float32) float32 {
	if v.inverse > 1-2e-6 && v.inverse < 1+2e-6 {
		return up(v.limit)
	}
	return max
}

// up is the next float32 that is not less than t >= 0.
func up(t float64) float32 {
	f := float32(t)
	if float64(f) < t {
		f = math.Float32frombits(math.Float32bits(f) + 1)
	}
	return f
}

func square(x float32) float64 { return float64(float64(x) * float64(x)) }
