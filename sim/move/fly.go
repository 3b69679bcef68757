package move

import "github.com/tickrate/tickrate/ecs/geom"

// fly moves a body through the air along delta. free reports whether it touched nothing, ground
// whether it landed.
func (m *collider) fly(delta geom.Vec3) (p geom.Vec3, free, ground bool) {
	n, part := m.body.parts(delta)
	free = true
	for i := range n {
		if i > 0 {
			m.look(p)
		}
		m.gather(p, part)
		var ok bool
		if ground { // walk the rest
			along := geom.Vec3{X: part.X, Z: part.Z}
			p, ok, ground = m.walkPart(p, along, -part.Y, max(-part.Y, m.body.stride))
		} else {
			p, ok, ground = m.flyPart(p, part)
		}
		free = free && ok && !ground
	}
	return p, free, ground
}

// flyPart is one part of a flight.
func (m *collider) flyPart(p, part geom.Vec3) (q geom.Vec3, free, landed bool) {
	q = p.Add(part)
	free = true
	falls := part.Y <= 0
	held := false // from below, if only by an edge
	for range maxPushes {
		if m.contain(&q) {
			free = false
		}
		if q.Y <= m.lo.Y {
			q.Y, free, landed = m.lo.Y, false, falls
		}
		touched := false
		for _, i := range m.near[:m.count] {
			t, ok := m.body.contact(m.solid(i), m.origin, q)
			if !ok {
				continue
			}
			touched = true
			held = held || t.n.Y > 0.1
			if falls && t.n.Y >= m.body.cosLimit && t.raise <= m.body.radius {
				q.Y += t.raise
				landed = true
			} else {
				q = q.Mad(t.n, t.depth)
			}
		}
		if !touched {
			// Wedged between edges that are no floor: where gravity moves the body no further, it
			// stands.
			if falls && held && q.Sub(p).LenSq() < 0.01*part.LenSq() {
				landed = true
			}
			return q, free, landed
		}
		free = false
	}
	return m.revert(p), false, falls && held
}
