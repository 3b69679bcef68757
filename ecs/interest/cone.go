package interest

import "math"

// eye is the point from which a viewer's cone opens, in cells: half a cell's diagonal behind the viewer, so that whoever stands
// beside it counts.
func (g *Grid) eye(v Viewer) (x, z float32) {
	length := float32(math.Sqrt(float64(v.DirX*v.DirX) + float64(v.DirZ*v.DirZ)))
	back := math.Sqrt2 / 2 / length
	return (v.X-g.cfg.MinX)/g.cfg.Cell - float32(v.DirX*back), (v.Z-g.cfg.MinZ)/g.cfg.Cell - float32(v.DirZ*back)
}

// inCone reports whether a cell's centre lies at most 45 degrees from where v looks: the way along the view is at least as far
// as the way across. In a row of cells these are two linear functions of the column, so the cone is one span of it.
func inCone(column, row int, x, z float32, v Viewer) bool {
	dx, dz := float32(column)+0.5-x, float32(row)+0.5-z
	return float32(dx*(v.DirX-v.DirZ))+float32(dz*(v.DirX+v.DirZ)) >= 0 && float32(dx*(v.DirX+v.DirZ))+float32(dz*(v.DirZ-v.DirX)) >= 0
}

// coneSpan is the first and the last column of a row in the cone; last is before first if there is none.
func (g *Grid) coneSpan(row int, x, z float32, v Viewer) (first, last int) {
	dz := float32(row) + 0.5 - z
	lo, hi := float32(0), float32(g.cfg.Wide-1)
	for _, f := range [2][2]float32{{v.DirX - v.DirZ, dz * (v.DirX + v.DirZ)}, {v.DirX + v.DirZ, dz * (v.DirZ - v.DirX)}} {
		switch zero := x - 0.5 - f[1]/f[0]; {
		case f[0] > 0:
			lo = max(lo, zero)
		case f[0] < 0:
			hi = min(hi, zero)
		case f[1] < 0:
			return 0, -1
		}
	}
	if !(lo <= hi+2) {
		return 0, -1
	}
	first, last = max(int(lo)-1, 0), min(int(hi)+2, g.cfg.Wide-1)
	for first <= last && !inCone(first, row, x, z, v) { // the division rounded: these have the word
		first++
	}
	for first <= last && !inCone(last, row, x, z, v) {
		last--
	}
	return first, last
}
