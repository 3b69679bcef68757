package arena

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Raycast returns the distance at which r first enters a solid, 0 if it starts in one, and whether
// it does so within r.Max. A ray with a coordinate that is not finite hits nothing.
//
// It walks the squares of the ground that the ray passes over (Amanatides and Woo, 1987) and stops
// at the first square that ends beyond the nearest hit.
func (a *Arena) Raycast(r geom.Ray) (t float32, ok bool) {
	if !r.Origin.Finite() || !r.Dir.Finite() || !(r.Max >= 0) {
		return 0, false
	}
	b := newBeam(r)
	for i := range a.large {
		if t, hit := a.large[i].enter(&b); hit {
			b.max, ok = t, true
		}
	}
	whole := Solid{Min: a.Bounds.Min, Max: a.Bounds.Max}
	if from, within := whole.enter(&b); within && a.walk(r, &b, from) {
		ok = true
	}
	if !ok {
		return 0, false
	}
	return b.max, true
}

// walk tests the solids of the squares that b passes over from a distance on, shortens b to the
// nearest hit, and reports whether there was one.
func (a *Arena) walk(r geom.Ray, b *beam, from float32) (ok bool) {
	g := &a.rays
	p := r.At(from)
	cx, cz := g.cell(p.X, p.Z)
	stepX, nextX, deltaX := rayAxis{r.Origin.X, r.Dir.X, b.inv.X}.borders(g.x0, g.inv, cx)
	stepZ, nextZ, deltaZ := rayAxis{r.Origin.Z, r.Dir.Z, b.inv.Z}.borders(g.z0, g.inv, cz)
	for {
		items := g.at(cx, cz)
		for i := range items {
			if t, hit := items[i].enter(b); hit {
				b.max, ok = t, true
			}
		}
		if min(nextX, nextZ) > b.max {
			return ok
		}
		if nextX < nextZ {
			nextX += deltaX
			cx += stepX
			if uint(cx) >= uint(g.nx) {
				return ok
			}
		} else {
			nextZ += deltaZ
			cz += stepZ
			if uint(cz) >= uint(g.nz) {
				return ok
			}
		}
	}
}

// rayAxis is a ray along one axis: its origin, its direction, and 1 / direction.
type rayAxis struct{ origin, dir, inv float32 }

// borders prepares the walk along one axis from a cell: which way cells go, the distance to the
// first border, and from border to border. edge is where cell 0 begins, cellInv is 1 / cell size.
func (r rayAxis) borders(edge, cellInv float32, cell int) (step int, next, delta float32) {
	const far = math.MaxFloat32
	size := 1 / cellInv
	switch {
	case r.dir > tinyDirection:
		return 1, ((edge + float32(float32(cell+1)*size)) - r.origin) * r.inv, size * r.inv
	case r.dir < -tinyDirection:
		return -1, ((edge + float32(float32(cell)*size)) - r.origin) * r.inv, -size * r.inv
	}
	return 0, far, far
}
