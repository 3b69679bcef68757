package kernel

// candidates is the truth other implementations must cover: they may name more, never fewer than a float64 oracle.
//
// The centre is shifted by the origin before anything is squared: the expanded form k - 2 o.c loses its digits far from
// the middle of the map. Comparisons are written so that NaN falls through to the careful end.
func candidates(r Ray, xs, ys, zs, nr2 []float32, out []int32) []int32 {
	n := len(xs)
	ys, zs, nr2 = ys[:n], zs[:n], nr2[:n]
	for i := range n {
		x, y, z := xs[i]-r.OX, ys[i]-r.OY, zs[i]-r.OZ
		along := float32(x*r.DX) + float32(y*r.DY) + float32(z*r.DZ)
		far := float32(x*x) + float32(y*y) + float32(z*z)
		if float32(along*along) < float32(far*(1-slack))+nr2[i] {
			continue // the whole line passes by
		}
		if nr2[i] == Never || behind(along, far, nr2[i]) || beyond(along, far, nr2[i], r.Max) {
			continue
		}
		out = append(out, int32(i))
	}
	return out
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
