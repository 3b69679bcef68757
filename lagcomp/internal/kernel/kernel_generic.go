package kernel

// The truth: what every other implementation must name, row for row.
//
// Two tests: a cheap one that almost nobody passes, then the distance from the line. For the latter everything is shifted by the
// origin before anything is squared: the expanded form k - 2 o.c loses its digits far from the middle of the map. Comparisons
// are written so that NaN falls through to the end, and each product is rounded before it is added. Left and right are asked for in
// one comparison, as nobody can foretell which of the two it is.

func rayGeneric(p *probe, c *Column, n int, out []int32) (named int) {
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

// nearestGeneric is the row that the ray enters first and before limit, and where; -1 and limit: none. It cuts p at what it enters, if
// it may.
func nearestGeneric(p *probe, r *Ray, c *Column, n int, inverse, limit float64, cut bool) (index int, t float64) {
	xs, ys, zs, nr2 := c.X[:n], c.Y[:n], c.Z[:n], c.NR2[:n]
	index = -1
	for i := range xs {
		side := float32(xs[i]*p.sx) + float32(zs[i]*p.sz)
		if max(p.lo-side, side-p.hi) > 0 || !p.along(xs[i], ys[i], zs[i], nr2[i]) {
			continue
		}
		if t := enter(r, inverse, xs[i], ys[i], zs[i], nr2[i]); t < limit {
			index, limit = i, t
			if cut {
				p.max = up(t)
			}
		}
	}
	return index, limit
}

// fewGeneric is nearest for so few rows that neither the cheap test nor cutting the ray pays, nor sorting out before the verdict who is
// behind or beyond it, or Never, whose radius is no number there.
func fewGeneric(r *Ray, c *Column, n int) (index int, t float32) {
	xs, ys, zs, nr2 := c.X[:n], c.Y[:n], c.Z[:n], c.NR2[:n]
	index, inverse, limit := -1, inverseOf(r), after(r.Max)
	for i := range xs {
		x, y, z := xs[i]-r.OX, ys[i]-r.OY, zs[i]-r.OZ
		far := float32(x*x) + float32(y*y) + float32(z*z)
		along := float32(x*r.DX) + float32(y*r.DY) + float32(z*r.DZ)
		if float32(along*along) < float32(far*(1-slack))+(nr2[i]-r.Grow) {
			continue // over, under or round the line
		}
		if t := enter(r, inverse, xs[i], ys[i], zs[i], nr2[i]); t < limit {
			index, limit = i, t
		}
	}
	return index, float32(limit)
}

func rayBetweenGeneric(p *probe, a, b *Column, n int, out []int32) (named int) {
	for i := range n {
		x, z := p.between(a, b, i, a.X[i], b.X[i]), p.between(a, b, i, a.Z[i], b.Z[i])
		side := float32(x*p.sx) + float32(z*p.sz)
		if max(p.lo-side, side-p.hi) > 0 {
			continue
		}
		if p.along(x, p.between(a, b, i, a.Y[i], b.Y[i]), z, a.NR2[i]) {
			out[named] = int32(i)
			named++
		}
	}
	return named
}

func ballGeneric(p *probe, c *Column, n int, out []int32) (named int) {
	xs, ys, zs, nr2 := c.X[:n], c.Y[:n], c.Z[:n], c.NR2[:n]
	for i := range n {
		if p.round(xs[i], ys[i], zs[i], nr2[i]) {
			out[named] = int32(i)
			named++
		}
	}
	return named
}

func ballBetweenGeneric(p *probe, a, b *Column, n int, out []int32) (named int) {
	for i := range n {
		x, y, z := p.between(a, b, i, a.X[i], b.X[i]), p.between(a, b, i, a.Y[i], b.Y[i]), p.between(a, b, i, a.Z[i], b.Z[i])
		if p.round(x, y, z, a.NR2[i]) {
			out[named] = int32(i)
			named++
		}
	}
	return named
}

// between is one coordinate of row i on its way from one column to the other.
func (p *probe) between(a, b *Column, i int, from, to float32) float32 {
	if a.Life[i] != b.Life[i] {
		return from
	}
	return from + float32((to-from)*p.f)
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
