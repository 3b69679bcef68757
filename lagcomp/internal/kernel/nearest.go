package kernel

import "math"

// few is from how many rows on the cheap test pays, which wants a probe. AVX-512 alone would be better off with 80.
const few = 32

// nearestOf is nearest without assembly, and the truth: it finds the rows that may be nearer than the best so far, and judges each in
// float64.
func nearestOf(r *Ray, c *Column, n int) (index int, t float32) {
	if n < few {
		if index, t = fewGeneric(r, c, n); index < 0 {
			return -1, 0
		}
		return index, t
	}
	var p probe
	p.ray(r)
	inverse := inverseOf(r)
	// Else the ray may not be cut: whoever is nearest would depend on the order in which rows are looked at, and that is each kernel's own.
	cut := inverse > 1-2e-6 && inverse < 1+2e-6
	index, at := nearestGeneric(&p, r, c, n, inverse, after(r.Max), cut)
	if index < 0 {
		return -1, 0
	}
	return index, float32(at)
}

// inverseOf is one over the squared length of the direction.
func inverseOf(r *Ray) float64 { return 1 / (square(r.DX) + square(r.DY) + square(r.DZ)) }

// after is the next float64 above a ray's end, which is no nearer than any other: whoever is entered there is hit.
func after(end float32) float64 {
	if end > math.MaxFloat32 {
		return float64(end)
	}
	return math.Float64frombits(math.Float64bits(float64(end)+0) + 1)
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
