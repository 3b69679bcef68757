package pvs

import (
	"math/bits"

	"github.com/tickrate/tickrate/sim/move"
)

// depth is how often an area is halved.
const depth = 6

// part is a piece of an area: a rectangle of the ground, and the range of heights of the feet over
// it.
type part struct{ x0, z0, x1, z1, y0, y1 float32 }

// empty reports a part in which no player can be.
func (p *part) empty() bool { return p.x0 > p.x1 }

// bodies is the bounding box of all bodies, eyes included, with their feet in p.
func (p *part) bodies() box {
	return box{
		point{float64(p.x0) - move.Radius, float64(p.y0), float64(p.z0) - move.Radius},
		point{float64(p.x1) + move.Radius, float64(p.y1) + move.Height, float64(p.z1) + move.Radius},
	}
}

// parts is an area, halved again and again: part i consists of 2i+1 and 2i+2, and bounds its
// patches tightly.
type parts []part

// size is the longer side.
func (p *part) size() float32 { return max(p.x1-p.x0, p.z1-p.z0) }

// splitPlace makes the parts of an area within its farthest limits.
func (g *ground) splitPlace(p *reachableArea, within area) parts {
	all := make(parts, 1<<(depth+1)-1)
	g.splitPart(p, within, all, 0, patchRect{0, 0, 64, len(p.rows)})
	return all
}

// patchRect is patches [x0, x1) of rows [z0, z1) of a reachable area.
type patchRect struct{ x0, z0, x1, z1 int }

// splitPart fills part i with the patches of a rectangle, and its halves.
func (g *ground) splitPart(p *reachableArea, within area, all parts, i int, patches patchRect) {
	x0, z0, x1, z1 := p.shrink(patches)
	if x0 >= x1 {
		g.emptyPart(all, i)
		return
	}
	at := func(origin float32, patch int) float32 { return origin + float32(float32(patch)*g.size) }
	r := part{
		max(at(g.x0, p.x0+x0), within.x0), max(at(g.z0, p.z0+z0), within.z0),
		min(at(g.x0, p.x0+x1), within.x1), min(at(g.z0, p.z0+z1), within.z1), p.feet, p.feet,
	}
	all[i] = r
	if 2*i+2 >= len(all) {
		for z := z0; z < z1; z++ {
			for x := x0; x < x1; x++ {
				if p.rows[z]>>x&1 != 0 {
					all[i].y0 = min(all[i].y0, g.low[(p.z0+z)*g.wide+p.x0+x])
				}
			}
		}
		return
	}
	if x1-x0 >= z1-z0 {
		mid := (x0 + x1) / 2
		g.splitPart(p, within, all, 2*i+1, patchRect{x0, z0, mid, z1})
		g.splitPart(p, within, all, 2*i+2, patchRect{mid, z0, x1, z1})
	} else {
		mid := (z0 + z1) / 2
		g.splitPart(p, within, all, 2*i+1, patchRect{x0, z0, x1, mid})
		g.splitPart(p, within, all, 2*i+2, patchRect{x0, mid, x1, z1})
	}
	for _, half := range all[2*i+1 : 2*i+3] {
		all[i].y0 = min(all[i].y0, half.y0)
	}
}

// emptyPart empties part i and its halves.
func (g *ground) emptyPart(all parts, i int) {
	if i < len(all) {
		all[i] = part{x0: 1, x1: -1, y0: unreachableHeight}
		g.emptyPart(all, 2*i+1)
		g.emptyPart(all, 2*i+2)
	}
}

// shrink removes rows and columns without patches at the edges.
func (p *reachableArea) shrink(r patchRect) (x0, z0, x1, z1 int) {
	x0, z0, x1, z1 = r.x0, r.z0, r.x1, r.z1
	mask := ^uint64(0) >> (64 - (x1 - x0)) << x0
	if x0 >= x1 {
		return 0, 0, 0, 0
	}
	var all uint64
	first, last := z1, z0
	for z := z0; z < z1; z++ {
		if row := p.rows[z] & mask; row != 0 {
			all |= row
			first, last = min(first, z), z+1
		}
	}
	if all == 0 {
		return 0, 0, 0, 0
	}
	return bits.TrailingZeros64(all), first, 64 - bits.LeadingZeros64(all), last
}
