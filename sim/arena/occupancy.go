package arena

import "github.com/tickrate/tickrate/ecs/geom"

// Implementation constants of occupancy.
const (
	occupancySquare = 1 // metres; doubled until there are at most maxOccupancy squares
	maxOccupancy    = 1 << 17
	layers          = 32
	leastLayer      = 1. / 4 // metres
	longestBox      = 8      // metres along each axis; longer boxes take longer than a walk
)

// occupancy tells most boxes in which there is nothing by one word. A square of the ground has a
// bit for each layer of height that a solid above it or above the eight squares around it meets.
// So one word stands for three squares by three.
type occupancy struct {
	x0, y0, z0 float32
	inv        float32  // 1 / size of a square
	perLayer   float32  // 1 / height of a layer; the lowest and the highest have no end
	nx, nz     int      // squares; a row of words has one more
	words      []uint32 // and one that is never free
}

// newOccupancy marks the squares and layers of all solids.
func newOccupancy(solids []Solid, bounds geom.AABB) occupancy {
	g := newGrid(bounds, gridSize(bounds, occupancySquare, maxOccupancy))
	words := (g.nx + 1) * (g.nz + 1)
	o := occupancy{x0: g.x0, z0: g.z0, inv: g.inv, nx: g.nx, nz: g.nz, words: make([]uint32, words+1)}
	o.words[len(o.words)-1] = 1
	low, high := bounds.Max.Y, bounds.Min.Y
	for i := range solids {
		low, high = min(low, solids[i].Min.Y), max(high, solids[i].Max.Y)
	}
	o.y0, o.perLayer = low, 1/max(leastLayer, (high-low)/layers)
	for i := range solids {
		s := &solids[i]
		x0, x1, z0, z1 := o.squares(s.Min, s.Max)
		mask := o.mask(s.Min.Y, s.Max.Y)
		for z := max(z0-1, 0); z <= z1+1; z++ {
			row := o.words[z*(o.nx+1):][:o.nx+1]
			for x := max(x0-1, 0); x <= x1+1; x++ {
				row[x] |= mask
			}
		}
	}
	return o
}

// Probe is what Free reads for a path, and which bits of it count.
type Probe struct{ word, mask uint32 }

// Probe returns the probe of a sphere's path, which must be finite.
func (a *Arena) Probe(r *geom.Ray, radius float32) (p Probe) {
	o := &a.filled
	lo, hi := box(r.Origin, r.At(r.Max), radius+rayMargin)
	x0, x1, z0, z1 := o.squares(lo, hi)
	if p.mask = o.mask(lo.Y, hi.Y); max(x1-x0, z1-z0) > 2 {
		return Probe{uint32(len(o.words) - 1), 1}
	}
	row := (z0 + 1) * (o.nx + 1)
	p.word = uint32(row + x0 + 1)
	return p
}

// Free reports whether Sweep touches nothing for want of a solid anywhere near, as most short paths
// through the air have none. It reads one word of memory. False says nothing.
func (a *Arena) Free(p Probe) bool { return a.filled.words[p.word]&p.mask == 0 }

// meets reports false if no solid lies in a box of at most longestBox, or touches it.
func (o *occupancy) meets(lo, hi geom.Vec3) bool {
	x0, x1, z0, z1 := o.squares(lo, hi)
	mask, found := o.mask(lo.Y, hi.Y), uint32(0)
	for z := z0 + 1; z <= z1+1; z += 3 {
		row := o.words[z*(o.nx+1):][:o.nx+1]
		for x := x0 + 1; x <= x1+1; x += 3 {
			found |= row[x]
		}
	}
	return found&mask != 0
}

// squares are the squares that a box meets; what is beside the bounds belongs to those at the edge.
func (o *occupancy) squares(lo, hi geom.Vec3) (x0, x1, z0, z1 int) {
	x0, x1 = int((lo.X-o.x0)*o.inv), int((hi.X-o.x0)*o.inv)
	z0, z1 = int((lo.Z-o.z0)*o.inv), int((hi.Z-o.z0)*o.inv)
	return min(max(x0, 0), o.nx-1), min(max(x1, 0), o.nx-1), min(max(z0, 0), o.nz-1), min(max(z1, 0), o.nz-1)
}

// mask is the layers of an interval of height, a bit each.
func (o *occupancy) mask(low, high float32) uint32 {
	l, h := int((low-o.y0)*o.perLayer), int((high-o.y0)*o.perLayer)
	l, h = min(max(l, 0), layers-1), min(max(h, 0), layers-1)
	return uint32(2)<<h - uint32(1)<<l
}
