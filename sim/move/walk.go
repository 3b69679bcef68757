package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// walk moves a body that stands on the ground: aside along delta, then up or down to the floor.
// free reports whether nothing turned it aside, ground whether it ends on a floor.
func (m *collider) walk(delta geom.Vec3) (p geom.Vec3, free, ground bool) {
	drop := min(-delta.Y, m.body.step)
	delta.Y = 0
	n, part := m.body.parts(delta)
	drop /= float32(n)
	// Downhill a floor is looked for as deep as the steepest may lie, at any tick rate.
	reach := max(drop, float32(geom.Sqrt(part.LenSq())*m.body.tanLimit)+skin)
	free = true
	for i := range n {
		if i > 0 {
			m.look(p)
		}
		m.gather(p, part)
		q, ok, floor := m.walkPart(p, part, drop, reach)
		free = free && ok
		p, ground = q, floor
	}
	return p, free, ground
}

// walkPart is one part of a walk.
func (m *collider) walkPart(p, part geom.Vec3, drop, reach float32) (q geom.Vec3, free, ground bool) {
	free = true
	q = p.Add(part)
	for range maxPushes {
		m.contain(&q)
		if feet, firm := m.floor(q, p.Y); feet >= p.Y-reach {
			q.Y = feet
			if geom.Abs(q.Y-p.Y) <= PosUnit { // rounding, not a rise
				q.Y = p.Y
			}
			// An edge too far out to stand on carries a body that climbs it or has a floor close
			// below.
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
	return m.revert(p), false, true
}

// floor finds the highest place to rest on at q that is no more than a step above feet, and the
// highest that is firm: where the contact is not steeper than SlopeLimit. Without any they are far
// below.
func (m *collider) floor(q geom.Vec3, feet float32) (highest, firm float32) {
	top := feet + m.body.stepTop
	highest, firm = -noFloor, -noFloor
	b := m.body
	for _, i := range m.near[:m.count] {
		s := m.solid(i)
		if s.Shape == arena.Box && s.Max.Y-m.origin.Y > top {
			continue // a wall, as below, but sooner
		}
		r, ok := b.support(s, m.origin, q.X, q.Z)
		if !ok || r.wall || r.at > top {
			continue
		}
		if r.feet > highest {
			highest = r.feet
		}
		if r.up >= b.cosLimit && r.feet > firm {
			firm = r.feet
		}
	}
	return highest, firm
}

// shove pushes q sideways out of whatever it touches, and reports whether it touched anything.
func (m *collider) shove(p geom.Vec3, q *geom.Vec3) (touched bool) {
	b := m.body
	for _, i := range m.near[:m.count] {
		t, ok := b.contact(m.solid(i), m.origin, *q)
		if !ok {
			continue
		}
		touched = true
		flat := float32(t.n.X*t.n.X) + float32(t.n.Z*t.n.Z)
		if flat > 1e-4 && t.aside <= b.radius {
			by := t.aside / geom.Sqrt(flat)
			q.X += float32(t.n.X * by)
			q.Z += float32(t.n.Z * by)
		} else {
			m.back(m.solid(i), p, q)
		}
	}
	return touched
}

// back is for a solid over or under q, which points no way aside: it pushes q to the side of it
// that p was on.
func (m *collider) back(s *arena.Solid, p geom.Vec3, q *geom.Vec3) {
	ey := apart(q.Y+m.body.radius, q.Y+m.body.shoulder, s.Min.Y-m.origin.Y, s.Max.Y-m.origin.Y)
	room := geom.Sqrt(max(m.body.radiusSq-float32(ey*ey), 0))
	x0, x1 := s.Min.X-m.origin.X-room, s.Max.X-m.origin.X+room
	z0, z1 := s.Min.Z-m.origin.Z-room, s.Max.Z-m.origin.Z+room
	best, to := float32(noFloor), *q
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
