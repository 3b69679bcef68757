package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Implementation constants of the collision.
const (
	stride = 0.36 // longest way between two tests; below the radius, so that no wall however thin is ever jumped
	slack  = 0.4  // a push may lead so far from the way itself
	tries  = 6    // rounds of pushing before a part of the way is given up

	nowhere = 1e9 // metres
)

// mover is one body in one tick. Positions are measured from origin.
type mover struct {
	arena  *arena.Arena
	origin geom.Vec3
	lo, hi geom.Vec3 // the arena's bounds
	cell   []arena.Solid
	near   [arena.MaxNear]uint8 // of cell, those within reach of this part of the way
	count  int
}

// resolve is the second half of a tick: from the velocity wanted to the place reached, the velocity that this amounts
// to, and the state of locomotion it ends in.
func (m *mover) resolve(b *Motion, in Input, delta geom.Vec3, rate uint16) {
	bounds := &m.arena.Bounds
	if p := b.Pos; p.X < bounds.Min.X || p.Y < bounds.Min.Y || p.Z < bounds.Min.Z || p.X > bounds.Max.X || p.Y > bounds.Max.Y || p.Z > bounds.Max.Z {
		b.Pos = p.Max(bounds.Min).Min(bounds.Max)
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

// gather lists the solids that a body may meet on the way from p by delta.
func (m *mover) gather(p, delta geom.Vec3) {
	const wide = radius + slack
	at := m.origin.Add(p)
	m.cell = m.arena.Near(at.X, at.Z)
	x0, x1 := at.X+min(delta.X, 0)-wide, at.X+max(delta.X, 0)+wide
	z0, z1 := at.Z+min(delta.Z, 0)-wide, at.Z+max(delta.Z, 0)+wide
	y0, y1 := at.Y-(StepHeight+slack), at.Y+(height+StepHeight+slack)
	m.count = 0
	for i := range m.cell {
		s := &m.cell[i]
		// No branches: which solids pass is anybody's guess, and a wrong guess costs more than all six comparisons.
		m.near[m.count&(arena.MaxNear-1)] = uint8(i)
		m.count += one(s.Min.X < x1) & one(s.Max.X > x0) & one(s.Min.Z < z1) & one(s.Max.Z > z0) & one(s.Min.Y < y1) & one(s.Max.Y > y0)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parts cuts a way into equal parts of at most a stride.
func parts(delta geom.Vec3) (n int, part geom.Vec3) {
	sq := delta.LenSq()
	if sq <= stride*stride {
		return 1, delta
	}
	n = int(geom.Sqrt(sq)*(1/stride)) + 1
	return n, delta.Scale(1 / float32(n))
}

// walk moves a body that stands on the ground: aside along delta, then up or down to the floor. free reports whether
// nothing turned it aside, ground whether it ends on a floor.
func (m *mover) walk(delta geom.Vec3) (p geom.Vec3, free, ground bool) {
	drop := min(-delta.Y, StepHeight)
	delta.Y = 0
	n, part := parts(delta)
	drop /= float32(n)
	// Downhill a floor is looked for as deep as the steepest may lie, at any tick rate.
	reach := max(drop, float32(geom.Sqrt(part.LenSq())*tanLimit)+skin)
	free = true
	for range n {
		m.gather(p, part)
		q, ok, floor := m.stride(p, part, drop, reach)
		free = free && ok
		p, ground = q, floor
	}
	return p, free, ground
}

// stride is one part of a walk.
func (m *mover) stride(p, part geom.Vec3, drop, reach float32) (q geom.Vec3, free, ground bool) {
	free = true
	q = p.Add(part)
	for range tries {
		m.contain(&q)
		if feet, firm := m.floor(q, p.Y); feet >= p.Y-reach {
			q.Y = feet
			if geom.Abs(q.Y-p.Y) <= PosUnit { // rounding, not a rise
				q.Y = p.Y
			}
			// An edge too far out to stand on carries whoever is climbing it, or has a floor close below.
			ground = firm >= p.Y-reach || q.Y-p.Y > skin
		} else {
			q.Y, ground = p.Y-drop, false
		}
		if q.Y <= m.lo.Y {
			q.Y, ground = m.lo.Y, true
		}
		if !m.shove(p, &q) {
			return q, free, ground
		}
		free = false
	}
	return m.stay(p), false, true
}

// floor finds the highest place to rest on at q that is no more than a step above feet, and the highest that is firm:
// where the contact is not steeper than SlopeLimit. Without any they are far below.
func (m *mover) floor(q geom.Vec3, feet float32) (highest, firm float32) {
	top := feet + (StepHeight + skin)
	highest, firm = -nowhere, -nowhere
	for _, i := range m.near[:m.count] {
		r, ok := support(&m.cell[i], m.origin, q.X, q.Z)
		if !ok || r.wall || r.at > top {
			continue
		}
		if r.feet > highest {
			highest = r.feet
		}
		if r.up >= cosLimit && r.feet > firm {
			firm = r.feet
		}
	}
	return highest, firm
}

// shove pushes q sideways out of whatever it touches, and reports whether it touched anything.
func (m *mover) shove(p geom.Vec3, q *geom.Vec3) (touched bool) {
	for _, i := range m.near[:m.count] {
		t, ok := contact(&m.cell[i], m.origin, *q)
		if !ok {
			continue
		}
		touched = true
		flat := float32(t.n.X*t.n.X) + float32(t.n.Z*t.n.Z)
		if flat > 1e-4 && t.aside <= radius {
			by := t.aside / geom.Sqrt(flat)
			q.X += float32(t.n.X * by)
			q.Z += float32(t.n.Z * by)
		} else {
			m.back(&m.cell[i], p, q)
		}
	}
	return touched
}

// back is for a solid over or under q, which points no way aside: it pushes q to the side of it that p was on.
func (m *mover) back(s *arena.Solid, p geom.Vec3, q *geom.Vec3) {
	ey := apart(q.Y+radius, q.Y+(height-radius), s.Min.Y-m.origin.Y, s.Max.Y-m.origin.Y)
	room := geom.Sqrt(max(radius*radius-float32(ey*ey), 0))
	x0, x1 := s.Min.X-m.origin.X-room, s.Max.X-m.origin.X+room
	z0, z1 := s.Min.Z-m.origin.Z-room, s.Max.Z-m.origin.Z+room
	best, to := float32(nowhere), *q
	to.X, to.Z = p.X, p.Z
	if d := q.X - x0; p.X <= x0+skin && d < best {
		best, to.X, to.Z = d, x0, q.Z
	}
	if d := x1 - q.X; p.X >= x1-skin && d < best {
		best, to.X, to.Z = d, x1, q.Z
	}
	if d := q.Z - z0; p.Z <= z0+skin && d < best {
		best, to.X, to.Z = d, q.X, z0
	}
	if d := z1 - q.Z; p.Z >= z1-skin && d < best {
		to.X, to.Z = q.X, z1
	}
	*q = to
}

// fly moves a body through the air along delta. free reports whether it touched nothing, ground whether it landed.
func (m *mover) fly(delta geom.Vec3) (p geom.Vec3, free, ground bool) {
	n, part := parts(delta)
	free = true
	for range n {
		m.gather(p, part)
		var ok bool
		if ground { // walk the rest
			along := geom.Vec3{X: part.X, Z: part.Z}
			p, ok, ground = m.stride(p, along, -part.Y, max(-part.Y, stride))
		} else {
			p, ok, ground = m.glide(p, part)
		}
		free = free && ok && !ground
	}
	return p, free, ground
}

// glide is one part of a flight.
func (m *mover) glide(p, part geom.Vec3) (q geom.Vec3, free, landed bool) {
	q = p.Add(part)
	free = true
	falls := part.Y <= 0
	held := false // from below, if only by an edge
	for range tries {
		if m.contain(&q) {
			free = false
		}
		if q.Y <= m.lo.Y {
			q.Y, free, landed = m.lo.Y, false, falls
		}
		touched := false
		for _, i := range m.near[:m.count] {
			t, ok := contact(&m.cell[i], m.origin, q)
			if !ok {
				continue
			}
			touched = true
			held = held || t.n.Y > 0.1
			if falls && t.n.Y >= cosLimit && t.raise <= radius {
				q.Y += t.raise
				landed = true
			} else {
				q = q.Mad(t.n, t.depth)
			}
		}
		if !touched {
			// Wedged between edges, none of which is a floor: where gravity moves nothing more, one can stand.
			if falls && held && q.Sub(p).LenSq() < 0.01*part.LenSq() {
				landed = true
			}
			return q, free, landed
		}
		free = false
	}
	return m.stay(p), false, falls && held
}

// contain keeps q within the bounds, except below, where a floor is made of them, and reports whether it had to.
func (m *mover) contain(q *geom.Vec3) (had bool) {
	if q.X >= m.lo.X && q.X <= m.hi.X && q.Z >= m.lo.Z && q.Z <= m.hi.Z && q.Y <= m.hi.Y {
		return false
	}
	q.X = min(max(q.X, m.lo.X), m.hi.X)
	q.Z = min(max(q.Z, m.lo.Z), m.hi.Z)
	q.Y = min(q.Y, m.hi.Y)
	return true
}

// stay is for a part of the way that was given up. p was free when the tick began, unless someone put it into a
// solid: then it takes the shortest way out of one solid that leads into no other, or else climbs to the top of all.
func (m *mover) stay(p geom.Vec3) geom.Vec3 {
	if m.deepest(p) < 4*skin {
		return p
	}
	for _, i := range m.near[:m.count] {
		if t, ok := contact(&m.cell[i], m.origin, p); ok {
			q := p.Mad(t.n, t.depth)
			if !m.contain(&q) && m.deepest(q) == 0 {
				return q
			}
		}
	}
	for range tries {
		for _, i := range m.near[:m.count] {
			if _, ok := contact(&m.cell[i], m.origin, p); ok {
				p.Y = max(p.Y, m.cell[i].Max.Y-m.origin.Y)
			}
		}
	}
	m.contain(&p)
	return p
}

// deepest is how deep a body at p is in the solid it is deepest in.
func (m *mover) deepest(p geom.Vec3) (depth float32) {
	for _, i := range m.near[:m.count] {
		if t, ok := contact(&m.cell[i], m.origin, p); ok && t.depth > depth {
			depth = t.depth
		}
	}
	return depth
}
