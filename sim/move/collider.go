package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Implementation constants of the collision.
const (
	slack     = 0.4 // a push may lead so far from the way itself
	maxPushes = 6   // rounds of pushing before a part of the way is given up

	noFloor = 1e9 // metres
)

// collider is one body in one tick. Positions are measured from origin.
type collider struct {
	arena  *arena.Arena
	body   *Body
	pass   uint8 // bit of the body's team
	origin geom.Vec3
	lo, hi geom.Vec3            // the arena's bounds
	cell   []arena.Solid        // near where this part of the way begins
	near   [arena.MaxNear]uint8 // of cell, those within reach of this part of the way
	count  int
	moving movingSolids
}

// look takes the solids near p.
func (m *collider) look(p geom.Vec3) {
	at := m.origin.Add(p)
	m.lookAt(at.X, at.Z)
}

// lookAt takes the solids near a place of the map.
func (m *collider) lookAt(x, z float32) {
	m.cell = m.arena.Near(x, z)
	if m.arena.Moves() {
		m.lookForMovers(x, z)
	}
}

// begin puts the origin where a body is, within the bounds, and takes the solids near it.
func (m *collider) begin(b *Motion) {
	bounds := &m.arena.Bounds
	b.Pos = b.Pos.Max(bounds.Min).Min(bounds.Max)
	m.lookAt(b.Pos.X, b.Pos.Z)
	m.origin = b.Pos
	m.lo, m.hi = bounds.Min.Sub(b.Pos), bounds.Max.Sub(b.Pos)
}

// resolve is the second half of a tick: from the velocity wanted to the place reached, the velocity
// that this amounts to, and the state of locomotion it ends in. m.cell is what is near b.Pos.
func (m *collider) resolve(b *Motion, in *Input, delta geom.Vec3, rate uint16) {
	bounds := &m.arena.Bounds
	if p := b.Pos; p.X < bounds.Min.X || p.Y < bounds.Min.Y || p.Z < bounds.Min.Z || p.X > bounds.Max.X ||
		p.Y > bounds.Max.Y || p.Z > bounds.Max.Z {
		b.Pos = p.Max(bounds.Min).Min(bounds.Max)
		m.lookAt(b.Pos.X, b.Pos.Z)
	}
	m.origin = b.Pos
	m.lo, m.hi = bounds.Min.Sub(b.Pos), bounds.Max.Sub(b.Pos)
	walks := b.Loco.Grounded()
	var moved geom.Vec3
	var free, ground bool
	if walks {
		moved, free, ground = m.walk(delta)
	} else {
		moved, free, ground = m.fly(delta)
	}
	hz := float32(rate)
	if !free {
		b.Vel.X, b.Vel.Z = moved.X*hz, moved.Z*hz
	}
	if !free || walks {
		b.Vel.Y = moved.Y * hz
	}
	b.Pos = moved
	switch {
	case b.Loco == Dead, ground == walks:
		if b.Since < 1<<16-1 {
			b.Since++
		}
	case !ground:
		b.Loco, b.Since = InAir, 0
	default:
		b.Loco, b.Since = Stand, 0
		if in.MoveMag > 0 {
			b.Loco = GroundMove
		}
	}
}

// gather lists the solids of m.cell, the cell of p, that a body may meet on the way from p by
// delta.
func (m *collider) gather(p, delta geom.Vec3) {
	b := m.body
	wide := b.wide
	at := m.origin.Add(p)
	forthX, forthZ := notNegative(delta.X), notNegative(delta.Z)
	x0, x1 := at.X+(delta.X-forthX)-wide, at.X+forthX+wide
	z0, z1 := at.Z+(delta.Z-forthZ)-wide, at.Z+forthZ+wide
	y0, y1 := at.Y-b.below, at.Y+b.above
	n, cell := 0, m.cell
	for i := range cell {
		s := &cell[i]
		// No branches: which solids pass cannot be predicted, and a misprediction costs more
		// than all six comparisons.
		m.near[n&(arena.MaxNear-1)] = uint8(i)
		n += one(s.Min.X < x1) & one(s.Max.X > x0) & one(s.Min.Z < z1) & one(s.Max.Z > z0) &
			one(s.Min.Y < y1) & one(s.Max.Y > y0)
	}
	m.count = n
	if m.pass&m.arena.Passed() != 0 {
		m.passes()
	}
	if m.moving.count > 0 {
		m.gatherMovers(geom.AABB{Min: geom.Vec3{X: x0, Y: y0, Z: z0}, Max: geom.Vec3{X: x1, Y: y1, Z: z1}})
	}
}

// gatherMovers adds the movers that reach into a box. Apart from gather's loop, as passes is.
//
//go:noinline
func (m *collider) gatherMovers(in geom.AABB) {
	for i := range m.moving.count {
		s := &m.moving.solids[i]
		if s.Min.X < in.Max.X && s.Max.X > in.Min.X && s.Min.Z < in.Max.Z && s.Max.Z > in.Min.Z &&
			s.Min.Y < in.Max.Y && s.Max.Y > in.Min.Y {
			m.near[m.count&(arena.MaxNear-1)] = uint8(len(m.cell) + i)
			m.count++
		}
	}
}

// passes takes the areas of the body's team out of the list. Apart from gather's loop: most maps
// have none. Within gather it would cost every body 3 %.
//
//go:noinline
func (m *collider) passes() {
	n := 0
	for _, i := range m.near[:m.count] {
		if m.cell[i].Pass&m.pass == 0 {
			m.near[n] = i
			n++
		}
	}
	m.count = n
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parts cuts a way into equal parts of at most a stride.
func (b *Body) parts(delta geom.Vec3) (n int, part geom.Vec3) {
	sq := delta.LenSq()
	if sq <= b.strideSq {
		return 1, delta
	}
	n = int(geom.Sqrt(sq)*b.invStride) + 1
	return n, delta.Scale(1 / float32(n))
}

// contain keeps q within the bounds, except below, where a floor is made of them, and reports
// whether it had to.
func (m *collider) contain(q *geom.Vec3) (had bool) {
	if q.X >= m.lo.X && q.X <= m.hi.X && q.Z >= m.lo.Z && q.Z <= m.hi.Z && q.Y <= m.hi.Y {
		return false
	}
	q.X = min(max(q.X, m.lo.X), m.hi.X)
	q.Z = min(max(q.Z, m.lo.Z), m.hi.Z)
	q.Y = min(q.Y, m.hi.Y)
	return true
}

// revert is for a part of the way that was given up. p was free when the tick began, unless someone
// put it into a solid: then it takes the shortest way out of one solid that leads into no other, or
// else climbs to the top of all.
func (m *collider) revert(p geom.Vec3) geom.Vec3 {
	if m.deepest(p) < 4*skin {
		return p
	}
	for _, i := range m.near[:m.count] {
		if t, ok := m.body.contact(m.solid(i), m.origin, p); ok {
			q := p.Mad(t.n, t.depth)
			if !m.contain(&q) && m.deepest(q) == 0 {
				return q
			}
		}
	}
	for range maxPushes {
		for _, i := range m.near[:m.count] {
			if _, ok := m.body.contact(m.solid(i), m.origin, p); ok {
				p.Y = max(p.Y, m.solid(i).Max.Y-m.origin.Y)
			}
		}
	}
	m.contain(&p)
	return p
}

// deepest is how deep a body at p is in the solid it is deepest in.
func (m *collider) deepest(p geom.Vec3) (depth float32) {
	for _, i := range m.near[:m.count] {
		if t, ok := m.body.contact(m.solid(i), m.origin, p); ok && t.depth > depth {
			depth = t.depth
		}
	}
	return depth
}
