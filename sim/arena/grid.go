package arena

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Implementation constants of the indexes.
const (
	Reach = 1.25 // Near finds everything within this many metres of the point asked for
	// metres by which the ray grid grows each solid, to cover rounding at cell borders
	rayMargin = 1. / 16
	cellSize  = 4 // metres; doubled until the grid has at most maxCells
	maxCells  = 1 << 16
	maxItems  = 1 << 20 // 32 MB of copies
	wideCells = 64      // a solid over more cells than this is kept out of the ray grid
)

// grid lists, for each square of the ground, copies of the solids near it:
// items[start[c]:start[c+1]]. Copies rather than indices, because one run of memory is then all
// that a player or a ray touches.
type grid struct {
	x0, z0  float32
	inv     float32 // 1 / cell size, a power of two
	nx, nz  int
	start   []uint32
	items   []Solid
	densest int
}

// index builds both grids.
func (a *Arena) index() error {
	size := gridSize(a.Bounds, cellSize, maxCells)
	a.near = newGrid(a.Bounds, size)
	a.rays = newGrid(a.Bounds, size)
	var narrow []Solid
	for i := range a.Solids {
		if a.Solids[i].Pass != 0 {
			continue // players only
		}
		x0, z0, x1, z1 := a.rays.span(&a.Solids[i], 0)
		if (x1-x0+1)*(z1-z0+1) > wideCells {
			a.large = append(a.large, a.Solids[i])
		} else {
			narrow = append(narrow, a.Solids[i])
		}
	}
	if !a.near.fill(a.Solids, Reach) || !a.rays.fill(narrow, rayMargin) {
		return ErrTooLarge
	}
	if a.near.densest > MaxNear {
		return ErrTooDense
	}
	return nil
}

// gridSize is the size of square cells over the ground of b, in metres: size, or twice that, and so
// on, until there are at most cells of them.
func gridSize(b geom.AABB, size float32, cells float64) float32 {
	wide, deep := b.Max.X-b.Min.X, b.Max.Z-b.Min.Z
	for float64(wide/size+1)*float64(deep/size+1) > cells {
		size *= 2
	}
	return size
}

// newGrid returns an empty grid of square cells over the ground of b. size is in metres, a power of
// two.
func newGrid(b geom.AABB, size float32) grid {
	return grid{
		x0: b.Min.X, z0: b.Min.Z, inv: 1 / size,
		nx: int(math.Ceil(float64((b.Max.X - b.Min.X) / size))),
		nz: int(math.Ceil(float64((b.Max.Z - b.Min.Z) / size))),
	}
}

// fill counts, then places, in the order of solids. It reports false if the copies would take too
// much memory.
func (g *grid) fill(solids []Solid, margin float32) bool {
	g.start = make([]uint32, g.nx*g.nz+1)
	total := 0
	for i := range solids {
		x0, z0, x1, z1 := g.span(&solids[i], margin)
		cells := (x1 - x0 + 1) * (z1 - z0 + 1)
		if total += cells; total > maxItems {
			return false
		}
		for z := z0; z <= z1; z++ {
			for x := x0; x <= x1; x++ {
				g.start[z*g.nx+x+1]++
			}
		}
	}
	for c := 1; c < len(g.start); c++ {
		g.densest = max(g.densest, int(g.start[c]))
		g.start[c] += g.start[c-1]
	}
	g.items = make([]Solid, total)
	next := make([]uint32, len(g.start))
	copy(next, g.start)
	for i := range solids {
		x0, z0, x1, z1 := g.span(&solids[i], margin)
		for z := z0; z <= z1; z++ {
			for x := x0; x <= x1; x++ {
				g.items[next[z*g.nx+x]] = solids[i]
				next[z*g.nx+x]++
			}
		}
	}
	return true
}

// span is the range of cells that s, grown by margin, touches.
func (g *grid) span(s *Solid, margin float32) (x0, z0, x1, z1 int) {
	x0, z0 = g.cell(s.Min.X-margin, s.Min.Z-margin)
	x1, z1 = g.cell(s.Max.X+margin, s.Max.Z+margin)
	return x0, z0, x1, z1
}

// cell is the cell of a point; points outside belong to the nearest border cell.
func (g *grid) cell(x, z float32) (int, int) {
	cx, cz := int((x-g.x0)*g.inv), int((z-g.z0)*g.inv)
	return min(max(cx, 0), g.nx-1), min(max(cz, 0), g.nz-1)
}

// at returns the solids of a cell that exists. The slice is the grid's.
func (g *grid) at(cx, cz int) []Solid {
	c := cz*g.nx + cx
	return g.items[g.start[c]:g.start[c+1]]
}

// Near returns at least the solids within Reach of the vertical line at (x, z), at most MaxNear of
// them, each once and always in the same order. The slice is the arena's. The point should be
// finite.
func (a *Arena) Near(x, z float32) []Solid {
	return a.near.at(a.near.cell(x, z))
}

// Cell is a cell of Near: its list, in a form that columns may hold.
type Cell struct{ first, end uint32 }

// Cell returns the cell whose list Near returns, for List.
func (a *Arena) Cell(x, z float32) Cell {
	cx, cz := a.near.cell(x, z)
	c := cz*a.near.nx + cx
	return Cell{a.near.start[c], a.near.start[c+1]}
}

// List is the list of a cell, as Near returns it.
func (a *Arena) List(c Cell) []Solid { return a.near.items[c.first:c.end] }

// Overlaps reports whether any solid's bounding box shares more than a face with b. It is exact for
// boxes; a ramp counts as its whole box. It is for placing things, and takes time with the size of
// b.
func (a *Arena) Overlaps(b geom.AABB) bool {
	x0, z0 := a.near.cell(b.Min.X, b.Min.Z)
	x1, z1 := a.near.cell(b.Max.X, b.Max.Z)
	for z := z0; z <= z1; z++ {
		for x := x0; x <= x1; x++ {
			items := a.near.at(x, z)
			for i := range items {
				if overlap(items[i].Bounds(), b) {
					return true
				}
			}
		}
	}
	return false
}

// overlap reports whether two boxes share volume; touching faces do not count.
func overlap(a, b geom.AABB) bool {
	return a.Min.X < b.Max.X && a.Min.Y < b.Max.Y && a.Min.Z < b.Max.Z &&
		b.Min.X < a.Max.X && b.Min.Y < a.Max.Y && b.Min.Z < a.Max.Z
}
