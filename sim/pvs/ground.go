package pvs

import (
	"math"
	"slices"

	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// Implementation constants of the ground.
const (
	patchSize  = 0.5  // metres; doubled until a cell with its reach is at most 64 wide
	sideMargin = 0.35 // metres, below the radius: nearer to a side the feet are on top
	// metres; less space above the ground leaves no room for the straight part of a body
	headroom  = 1.35
	stepSlack = 1. / 16
	// metres that a double jump rises: each jump rises and coasts 0.31 m, and an edge adds a push
	topRise = 2*(move.JumpHeight+0.35) + 0.5

	unreachableHeight = math.MaxFloat32 // the height of ground where no player can be
)

// ground is the arena's ground in square patches: the lowest height of the feet in each.
type ground struct {
	a          *arena.Arena
	x0, z0     float32
	size       float32
	wide, deep int
	low        []float32 // lowest height of the feet of a player whose centre is in the patch
	top        float32   // no feet are ever higher
}

func newGround(a *arena.Arena, c *Config) *ground {
	g := &ground{a: a, x0: a.Bounds.Min.X, z0: a.Bounds.Min.Z, size: patchSize}
	for (c.Cell+2*c.reach())/g.size > 60 {
		g.size *= 2
	}
	g.wide = int(math.Ceil(float64((a.Bounds.Max.X - g.x0) / g.size)))
	g.deep = int(math.Ceil(float64((a.Bounds.Max.Z - g.z0) / g.size)))
	g.low = make([]float32, g.wide*g.deep)
	for i := range g.low {
		g.low[i] = a.Bounds.Min.Y
	}
	// In order from below: ground that a higher box blocks never makes a lower box block more.
	solids := slices.Clone(a.Solids)
	slices.SortStableFunc(solids, func(x, y arena.Solid) int {
		switch {
		case x.Min.Y < y.Min.Y:
			return -1
		case x.Min.Y > y.Min.Y:
			return 1
		}
		return 0
	})
	for i := range solids {
		if s := &solids[i]; s.Shape == arena.Box {
			g.raise(s, 0, 0, s.Max.Y)
			g.raise(s, sideMargin, 0, s.Max.Y-move.Radius)
			g.raise(s, 0, sideMargin, s.Max.Y-move.Radius)
		}
	}
	g.top = g.highest()
	return g
}

// raise lifts the patches that lie entirely in s, widened, to top, unless there is room below it.
func (g *ground) raise(s *arena.Solid, dx, dz, top float32) {
	x0, x1 := g.whole(s.Min.X-dx-g.x0, s.Max.X+dx-g.x0, g.a.Bounds.Max.X-g.x0, g.wide)
	z0, z1 := g.whole(s.Min.Z-dz-g.z0, s.Max.Z+dz-g.z0, g.a.Bounds.Max.Z-g.z0, g.deep)
	for z := z0; z < z1; z++ {
		for x := x0; x < x1; x++ {
			if low := &g.low[z*g.wide+x]; *low < top && s.Min.Y < *low+headroom {
				*low = top
			}
		}
	}
}

// whole is the patches that lie in [lo, hi]; no player is beyond end, where the last of n may be
// cut.
func (g *ground) whole(lo, hi, end float32, n int) (first, last int) {
	last = n
	if hi < end {
		last = int(math.Floor(float64(hi / g.size)))
	}
	return max(int(math.Ceil(float64(lo/g.size))), 0), last
}

// highest is how high the feet can get at all: jumping from each solid to the next higher, however
// far apart they are.
func (g *ground) highest() float32 {
	lowest := float32(unreachableHeight)
	for _, low := range g.low {
		lowest = min(lowest, low)
	}
	for _, s := range g.a.Spawns {
		lowest = max(lowest, s.Pos.Y)
	}
	var tops []float32
	for i := range g.a.Solids {
		tops = appendTops(tops, &g.a.Solids[i])
	}
	for i := range g.a.Movers {
		s := liftOf(&g.a.Movers[i])
		tops = appendTops(tops, &s)
	}
	slices.Sort(tops)
	for _, t := range tops {
		if t <= lowest+topRise+move.StepHeight {
			lowest = max(lowest, t)
		}
	}
	return min(lowest+topRise, g.a.Bounds.Max.Y)
}

// reachableArea is where a player now in a cell, on a level, can be within the look-ahead: patches
// of the ground, as bits.
type reachableArea struct {
	x0, z0 int      // patch of bit 0 of row 0
	rows   []uint64 // by z: which patches the centre of the body can be over
	feet   float32  // highest height of the feet
}

// area is a rectangle of the ground, metres.
type area struct{ x0, z0, x1, z1 float32 }

func (r area) grown(by float32) area { return area{r.x0 - by, r.z0 - by, r.x1 + by, r.z1 + by} }

// cellArea is the ground of a cell.
func (c *Config) cellArea(cell int) area {
	x, z := c.MinX+float32(float32(cell%c.Wide)*c.Cell), c.MinZ+float32(float32(cell/c.Wide)*c.Cell)
	return area{x, z, x + c.Cell, z + c.Cell}
}

// span is the patches that an area touches: [x0, x1) and [z0, z1).
func (g *ground) span(r area) (x0, z0, x1, z1 int) {
	at := func(v float32, n int) int { return min(max(int(math.Floor(float64(v/g.size))), 0), n) }
	return at(r.x0-g.x0, g.wide), at(r.z0-g.z0, g.deep), at(r.x1-g.x0, g.wide-1) + 1,
		at(r.z1-g.z0, g.deep-1) + 1
}

// floor is the lowest ground of an area, or unreachableHeight.
func (g *ground) floor(r area) float32 {
	lowest := float32(unreachableHeight)
	x0, z0, x1, z1 := g.span(r)
	for z := z0; z < z1; z++ {
		for _, low := range g.low[z*g.wide+x0 : z*g.wide+max(x0, x1)] {
			lowest = min(lowest, low)
		}
	}
	return lowest
}

// reachable finds where a player gets from an area with the feet at most at height now.
func (g *ground) reachable(r area, now float32, c *Config, solids []arena.Solid) reachableArea {
	reach := r.grown(c.reach())
	feet := g.top
	if now < feet {
		feet = min(climb(reach.grown(move.Radius), now, c.rise(), solids), g.top)
	}
	for i := range solids { // a roof over all of it limits players below it
		s, b := &solids[i], &g.a.Bounds
		if s.Shape == arena.Box && now < s.Min.Y && s.Min.X <= max(reach.x0, b.Min.X) &&
			s.Min.Z <= max(reach.z0, b.Min.Z) &&
			s.Max.X >= min(reach.x1, b.Max.X) && s.Max.Z >= min(reach.z1, b.Max.Z) {
			feet = min(feet, max(now, s.Min.Y-move.Height+1./32))
		}
	}
	x0, z0, x1, z1 := g.span(reach)
	p := reachableArea{x0: x0, z0: z0, feet: feet}
	free := make([]uint64, max(z1-z0, 0))
	p.rows = make([]uint64, len(free))
	for i := range free {
		for x := x0; x < x1; x++ {
			if g.low[(z0+i)*g.wide+x] <= feet {
				free[i] |= 1 << (x - x0)
			}
		}
	}
	sx0, sz0, sx1, sz1 := g.span(r)
	for z := sz0; z < sz1; z++ {
		for x := sx0; x < sx1; x++ {
			if g.low[z*g.wide+x] <= now {
				p.rows[z-z0] |= 1 << (x - x0)
			}
		}
	}
	// The bound is the number of patch borders that a path of this length can cross.
	for range int(c.reach()*math.Sqrt2/g.size) + 2 {
		p.spread(free)
	}
	return p
}

// spread adds the free patches beside those in p.
func (p *reachableArea) spread(free []uint64) {
	var before uint64
	for i, row := range p.rows {
		next := row | row<<1 | row>>1 | before
		if i+1 < len(p.rows) {
			next |= p.rows[i+1]
		}
		before = row
		p.rows[i] = next&free[i] | row
	}
}

// appendTops appends the heights at which a solid can be stepped on: of a ramp, one a step.
func appendTops(tops []float32, s *arena.Solid) []float32 {
	if s.Shape != arena.Box {
		for y := s.Min.Y; y < s.Max.Y; y += move.StepHeight {
			tops = append(tops, y)
		}
	}
	return append(tops, s.Max.Y)
}

// liftOf is a mover as what it can do to a body's height: it lifts as a ramp as large as its travel.
func liftOf(m *arena.Mover) arena.Solid {
	h := m.Hull()
	return arena.Solid{Min: h.Min, Max: h.Max, Shape: arena.RampPosX}
}

// climb is how high the feet get in an area from height now: steps and ramps are free, other
// heights cost of rise metres.
func climb(r area, now, rise float32, solids []arena.Solid) float32 {
	type ledge struct{ at, cost float32 }
	ledges := []ledge{{now, 0}}
	var tops []float32
	for i := range solids {
		s := &solids[i]
		if s.Max.X < r.x0 || s.Min.X > r.x1 || s.Max.Z < r.z0 || s.Min.Z > r.z1 || s.Max.Y <= now {
			continue
		}
		tops = appendTops(tops, s)
	}
	slices.Sort(tops)
	best := now + rise
	for _, top := range tops {
		if top <= now {
			continue
		}
		cost := float32(math.MaxFloat32)
		for _, l := range ledges {
			cost = min(cost, l.cost+max(0, top-l.at-move.StepHeight-stepSlack))
		}
		if cost <= rise {
			ledges = append(ledges, ledge{top, cost})
			best = max(best, top+rise-cost)
		}
	}
	return best
}
