package kernel

// The truth: what every other implementation must name, row for row.
//
// Two tests: a cheap one that few rows pass, then the distance from the line. For the latter
// everything is shifted by the origin before anything is squared: the expanded form k - 2 o.c loses
// its digits far from the middle of the map. Comparisons are written so that NaN falls through to
// the end, and each product is rounded before it is added. Left and right are asked for in one
// comparison, as neither can be predicted.

// rayGeneric is the reference for rays.
func rayGeneric(p *probe, c *Spheres, n int, out []int32) (named int) {
	xs, ys, zs, nr2 := c.X[:n], c.Y[:n], c.Z[:n], c.NR2[:n]
	for i := range n {
		side := float32(xs[i]*p.sx) + float32(zs[i]*p.sz)
		if max(p.lo-side, side-p.hi) > 0 {
			continue // left or right of the ray
		}
		if p.along(xs[i], ys[i], zs[i], nr2[i]) {
			out[named] = int32(i)
			named++
		}
	}
	return named
}

func ballGeneric(p *probe, c *Spheres, n int, out []int32) (named int) {
	xs, ys, zs, nr2 := c.X[:n], c.Y[:n], c.Z[:n], c.NR2[:n]
	for i := range n {
		if p.round(xs[i], ys[i], zs[i], nr2[i]) {
			out[named] = int32(i)
			named++
		}
	}
	return named
}

// along is the full test of a ray on one row.
func (p *probe) along(x, y, z, nr2 float32) bool {
	x, y, z = x-p.ox, y-p.oy, z-p.oz
	square := nr2 - p.grow
	far := float32(x*x) + float32(y*y) + float32(z*z)
	along := float32(x*p.dx) + float32(y*p.dy) + float32(z*p.dz)
	near := float32(far*p.keep) + square
	if nr2 == p.never || float32(along*along) < near {
		return false // over, under or round the line
	}
	if along < 0 && near > 0 && float32(along*along) > float32(far*p.slack) {
		return false // starts outside and leads away
	}
	over := along - p.max // from the ray's end to the plane through the nearest point of the sphere
	return !(over > 0 && float32(over*over) > float32(far*p.slack)-square)
}

// round is both tests of a ball on one row.
func (p *probe) round(x, y, z, nr2 float32) bool {
	x, z = x-p.ox, z-p.oz
	if float32(x*x)+float32(z*z) > p.hi || nr2 == p.never {
		return false
	}
	y -= p.oy
	far := float32(x*x) + float32(y*y) + float32(z*z)
	return !(float32(far*p.keep)+(nr2-p.grow) > 0)
}
