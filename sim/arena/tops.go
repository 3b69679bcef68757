package arena

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Beside is how far from a point Tops looks for solids, in metres.
const Beside = 33. / 64

// Implementation constants of Tops.
const (
	topsSize   = 0.5 // metres; doubled until there are at most maxTops cells
	maxTops    = 1 << 18
	topsMargin = 1. / 64 // forgives rounding at cell borders
	unlevel    = Unit / 128
	noTop      = math.MaxFloat32 // beside the bounds
)

// Tops is a table of heights over the ground: what tells, with one look, that nothing is in the way
// of a body that stands or flies above everything around it.
type Tops struct {
	x0, z0 float32
	inv    float32 // 1 / cell size
	nx, nz int
	top    []float32
}

// At returns a height above which there is no solid within Beside of the vertical line at (x, z). It
// is a multiple of Unit only if all of the ground there is a floor of that height: a box that is no
// team's area, the highest of what is within Beside. Within Beside of the bounds, beyond them and for
// NaN it is above everything.
func (t *Tops) At(x, z float32) float32 {
	cx, cz := int((x-t.x0)*t.inv), int((z-t.z0)*t.inv)
	if uint(cx) >= uint(t.nx) || uint(cz) >= uint(t.nz) {
		return noTop
	}
	return t.top[cz*t.nx+cx]
}

// Tops returns the arena's table.
func (a *Arena) Tops() *Tops { return &a.tops }

// newTops makes the table of an arena.
func newTops(a *Arena) Tops {
	size := gridSize(a.Bounds, topsSize, maxTops)
	g := newGrid(a.Bounds, size)
	t := Tops{x0: g.x0, z0: g.z0, inv: g.inv, nx: g.nx, nz: g.nz, top: make([]float32, g.nx*g.nz)}
	floors := make([]float32, len(t.top))
	for i := range t.top {
		t.top[i], floors[i] = a.Bounds.Min.Y, -noTop
	}
	for i := range a.Solids {
		s := &a.Solids[i]
		raise(t.top, &g, s.Min, s.Max, Beside, s.Max.Y)
		if s.Shape == Box && s.Pass == 0 {
			// Cells that lie in the solid, all of them: those whose neighbours it touches, too.
			inset := size + topsMargin
			in := geom.Vec3{X: inset, Z: inset}
			if lo, hi := s.Min.Add(in), s.Max.Sub(in); lo.X <= hi.X && lo.Z <= hi.Z {
				raise(floors, &g, lo, hi, 0, s.Max.Y)
			}
		}
	}
	for i, top := range t.top {
		if floors[i] != top {
			t.top[i] += unlevel
		}
	}
	for z := range g.nz { // the edges
		for x := range g.nx {
			lo := geom.Vec3{X: g.x0 + float32(float32(x)*size), Z: g.z0 + float32(float32(z)*size)}
			if lo.X < a.Bounds.Min.X+Beside || lo.X+size > a.Bounds.Max.X-Beside ||
				lo.Z < a.Bounds.Min.Z+Beside || lo.Z+size > a.Bounds.Max.Z-Beside {
				t.top[z*g.nx+x] = noTop
			}
		}
	}
	return t
}

// raise lifts the heights of the cells that a rectangle, grown by a margin, touches to at least y.
func raise(heights []float32, g *grid, lo, hi geom.Vec3, margin, y float32) {
	x0, z0 := g.cell(lo.X-margin, lo.Z-margin)
	x1, z1 := g.cell(hi.X+margin, hi.Z+margin)
	for z := z0; z <= z1; z++ {
		row := heights[z*g.nx : (z+1)*g.nx]
		for x := x0; x <= x1; x++ {
			row[x] = max(row[x], y)
		}
	}
}
