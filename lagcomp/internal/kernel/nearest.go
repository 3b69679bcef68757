package kernel

import (
	"math"
	"math/bits"
)

// nearest lets a kernel find the rows that may be nearer than the best so far, and judges each in float64.
func nearest(k isa, r *Ray, c *Column, n int) (index int, t float32) {
	var p probe
	p.ray(r)
	// One over the squared length of the direction. If that is not 1, a kernel may not cut the ray: whoever is nearest would
	// depend on the order in which rows are looked at, and that is each kernel's own.
	inverse := 1 / (square(r.DX) + square(r.DY) + square(r.DZ))
	unit := inverse > 1-2e-6 && inverse < 1+2e-6
	index = -1
	limit := float64(r.Max)
	for from := 0; from < n; {
		at, named := k.next(&p, c, n, from)
		for from = at + k.lanes(); named != 0; named &= named - 1 {
			i := at + bits.TrailingZeros32(named)
			t := enter(r, inverse, c.X[i], c.Y[i], c.Z[i], c.NR2[i])
			if t < limit || t == limit && index < 0 {
				index, limit = i, t
				if unit {
					p.max = up(t)
				}
			}
		}
	}
	if index < 0 {
		return -1, 0
	}
	return index, float32(limit)
}

// enter is how far along the ray it enters a sphere: 0 if it starts inside, NaN if it does not. Differences of float32 are exact in
// float64 but for numbers 2^29 apart, so what is rounded is the nearest point of the line, by some 1e-16 of its distance.
func enter(r *Ray, inverse float64, x, y, z, nr2 float32) float64 {
	cx, cy, cz := float64(x)-float64(r.OX), float64(y)-float64(r.OY), float64(z)-float64(r.OZ)
	dx, dy, dz := float64(r.DX), float64(r.DY), float64(r.DZ)
	radius2 := float64(r.Grow) - float64(nr2)
	if float64(cx*cx)+float64(cy*cy)+float64(cz*cz) <= radius2 {
		return 0
	}
	along := float64(cx*dx) + float64(cy*dy) + float64(cz*dz)
	if !(along > 0) {
		return math.NaN()
	}
	s := float64(along * inverse)
	cx, cy, cz = cx-float64(s*dx), cy-float64(s*dy), cz-float64(s*dz)
	deep := radius2 - (float64(cx*cx) + float64(cy*cy) + float64(cz*cz))
	t := s - math.Sqrt(deep*inverse) // NaN of what is negative: the line passes by
	if t < 0 {
		return 0
	}
	return t
}

// up is a float32 not less than t >= 0, one step up or two: to ask which would be a branch that nobody can predict.
func up(t float64) float32 { return math.Float32frombits(math.Float32bits(float32(t)) + 1) }

func square(x float32) float64 { return float64(float64(x) * float64(x)) }
