package interest

import "math"

// cone is the set of cells with centres at most 45 degrees off the direction of view. Two linear
// functions a*dx + b*dz of the offset to the centre are not negative there, so it is one span of
// each row of cells.
type cone struct {
	x, z   float32 // the point from which it opens, in cells
	planes [2]plane
}

type plane struct{ a, b, slope float32 } // slope is b/a

// newCone opens half a cell's diagonal behind the viewer, so that rows beside it count.
func (g *Grid) newCone(v Viewer) cone {
	length := float32(math.Sqrt(float64(v.DirX*v.DirX) + float64(v.DirZ*v.DirZ)))
	back := math.Sqrt2 / 2 / length
	x, z := (v.X-g.cfg.MinX)/g.cfg.Cell-float32(v.DirX*back), (v.Z-g.cfg.MinZ)/g.cfg.Cell-float32(v.DirZ*back)
	a, b := v.DirX-v.DirZ, v.DirX+v.DirZ
	return cone{x, z, [2]plane{{a, b, b / a}, {b, -a, -a / b}}}
}

// bounds is the first and the last column of a row of cells in the cone, as fractions.
func (c *cone) bounds(row int) (lo, hi float32) {
	x, dz := c.x-0.5, float32(row)+0.5-c.z
	lo, hi = float32(math.Inf(-1)), float32(math.Inf(1))
	for i := range c.planes {
		switch p := &c.planes[i]; {
		case p.a > 0:
			lo = max(lo, x-float32(dz*p.slope))
		case p.a < 0:
			hi = min(hi, x-float32(dz*p.slope))
		case !(p.b*dz >= 0):
			return 1, 0
		}
	}
	return lo, hi
}

// span is the first and the last column, of wide, of a row in the cone; last is before first if
// there is none.
func (c *cone) span(row, wide int) (first, last int) {
	lo, hi := c.bounds(row)
	if lo, hi = max(lo, 0), min(hi, float32(wide-1)); !(lo <= hi) {
		return 0, -1
	}
	if first = int(lo); float32(first) < lo {
		first++
	}
	return first, int(hi)
}
