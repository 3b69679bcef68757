package kernel

import "math"

// candidates is the truth other implementations must cover: they may name more, never fewer than a float64 oracle.
//
// Two tests, since almost everybody is well to the left or right: first the distance from the upright plane through the
// ray, then the distance from the line. Everything is shifted by the origin before anything is squared: the expanded form
// k - 2 o.c loses its digits far from the middle of the map. Comparisons are written so that NaN falls through to the end.
func candidates(r Ray, xs, ys, zs, nr2 []float32, out []int32) []int32 {
	n := len(xs)
	ys, zs, nr2 = ys[:n], zs[:n], nr2[:n]
	sx, sz := sideways(r.DX, r.DZ)
	beside := sideSlack + r.Grow
	for i := range n {
		x, z := xs[i]-r.OX, zs[i]-r.OZ
		side := float32(x*sx) + float32(z*sz)
		if float32(side*side)+nr2[i] > beside {
			continue // left or right of the ray
		}
		y, square := ys[i]-r.OY, nr2[i]-r.Grow
		along := float32(x*r.DX) + float32(y*r.DY) + float32(z*r.DZ)
		far := float32(x*x) + float32(y*y) + float32(z*z)
		if float32(along*along) < float32(far*(1-slack))+square {
			continue // over, under or round the line
		}
		if square == Never || behind(along, far, square) || beyond(along, far, square, r.Max) {
			continue
		}
		out = append(out, int32(i))
	}
	return out
}

// sideways is a level unit vector across the direction; any will do for one straight up or down.
func sideways(dx, dz float32) (x, z float32) {
	across := math.Sqrt(float64(float64(dx)*float64(dx)) + float64(float64(dz)*float64(dz)))
	if across < 1e-9 {
		return 1, 0
	}
	return float32(-float64(dz) / across), float32(float64(dx) / across)
}

// behind reports that the ray starts outside the sphere and leads away from it.
func behind(along, far, nr2 float32) bool {
	return along < 0 && float32(far*(1-slack))+nr2 > 0 && float32(along*along) > float32(far*slack)
}

// beyond reports that the ray ends before the plane through the nearest point of the sphere.
func beyond(along, far, nr2, limit float32) bool {
	over := along - limit
	return over > 0 && float32(over*over) > float32(far*slack)-nr2
}
