package move

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Movers act on a body before it moves by itself. First the mover that the body stands on carries
// it. Then each mover that overlaps the body pushes it out the shortest way. The map's solids stop
// both the carrying and the pushing. A mover passes through a body that it presses against a solid:
// it is no obstacle to the body in that tick, and it pushes again in the next, until the shortest
// way out is free. All pushes of a tick together move a body no faster than pushSpeed.
//
// The velocity of a body is relative to the mover that it stands on. When the body leaves the
// mover, also by a jump, the mover's horizontal velocity is added to it. When the body gets on a
// mover, the mover's horizontal velocity is subtracted.

// Implementation constants of pushes by movers.
const (
	maxPushRounds = 3 // in a tick; each tests every mover near the body once
	// pushSpeed is the budget of all pushes of a tick together, in m/s. The factor is 2, so that a
	// body between two movers can follow both.
	pushSpeed = 2 * arena.MaxMoverSpeed
)

// movingSolids are the movers near a body, where they are at the end of the tick.
type movingSolids struct {
	moment arena.Moment
	solids [arena.MaxNearMovers]arena.Solid
	count  int
	passed uint64 // bit i: Movers[i] is no obstacle, as it passes through the body
	near   uint64 // bit i: Movers[i] is near the body as the tick begins
	under  int    // index of the mover that the body then stands on; -1: none
}

// lookForMovers collects the movers near a place.
func (m *collider) lookForMovers(x, z float32) {
	m.moving.count = 0
	for near := m.arena.MoversNear(x, z) &^ m.moving.passed; near != 0; near &= near - 1 {
		m.moving.solids[m.moving.count] = m.arena.Movers[bits.TrailingZeros64(near)].At(m.moving.moment)
		m.moving.count++
	}
}

// solid is solid i as the collider's near counts them: the map's solids of the cell first, then the
// movers.
func (m *collider) solid(i uint8) *arena.Solid {
	if int(i) < len(m.cell) {
		return &m.cell[i]
	}
	// The mask changes no index: it spares the check of the array's bounds.
	return &m.moving.solids[(int(i)-len(m.cell))&(arena.MaxNearMovers-1)]
}

// carryAndPush applies movers to a body before it moves by itself.
func (m *collider) carryAndPush(b *Motion) {
	moving := &m.moving
	moving.passed, moving.near = 0, m.arena.MoversNear(b.Pos.X, b.Pos.Z)
	if moving.near == 0 {
		return
	}
	if moving.under = m.carrier(b, moving.near, moving.moment.Before()); moving.under >= 0 {
		m.shift(b, m.arena.Movers[moving.under].Displacement(moving.moment))
	}
	m.push(b, moving.near)
}

// changeCarrier adds the horizontal velocity of the mover that a body has left, and subtracts that
// of the mover that it now stands on.
func (m *collider) changeCarrier(b *Motion) {
	was, now := m.moving.under, m.moving.moment
	if m.moving.near == 0 {
		return
	}
	is, hz := m.carrier(b, m.arena.MoversNear(b.Pos.X, b.Pos.Z), now), float32(now.Rate)
	if is == was {
		return
	}
	v := b.Vel
	if was >= 0 {
		v = v.Mad(m.arena.Movers[was].Displacement(now), hz)
	}
	if is >= 0 {
		v = v.Mad(m.arena.Movers[is].Displacement(now), -hz)
	}
	b.Vel = roundVel(geom.Vec3{X: v.X, Y: b.Vel.Y, Z: v.Z})
}

// carrier is the first mover in near that a body stands on at a moment, -1 for none. Dead bodies
// are carried, too.
func (m *collider) carrier(b *Motion, near uint64, at arena.Moment) int {
	if !b.Loco.Grounded() && b.Loco != Dead {
		return -1
	}
	for ; near != 0; near &= near - 1 {
		i := bits.TrailingZeros64(near)
		s := m.arena.Movers[i].At(at)
		if r, ok := m.body.support(&s, b.Pos, 0, 0); ok && geom.Abs(r.feet) <= skin {
			return i
		}
	}
	return -1
}

// shift moves a body that a mover carries or pushes, up to the first solid of the map in the way.
func (m *collider) shift(b *Motion, by geom.Vec3) {
	if by == (geom.Vec3{}) {
		return
	}
	m.moving.passed = ^uint64(0) // no mover stops a shift
	m.begin(b)
	p, _, _ := m.fly(by)
	b.Pos = m.origin.Add(roundPos(p))
}

// push pushes a body out of the movers in near, and records in passed those that the body stays
// inside.
func (m *collider) push(b *Motion, near uint64) {
	inside, remaining := near, pushSpeed/float32(m.moving.moment.Rate)+skin
	for range maxPushRounds {
		inside = 0
		for some := near; some != 0; some &= some - 1 {
			i := bits.TrailingZeros64(some)
			s := m.arena.Movers[i].At(m.moving.moment)
			if t, ok := m.body.contact(&s, b.Pos, geom.Vec3{}); ok {
				by := min(t.depth, remaining)
				remaining -= by
				m.shift(b, t.n.Scale(by))
				inside |= 1 << i
			}
		}
		if inside == 0 {
			break
		}
	}
	m.moving.passed = 0
	for some := inside; some != 0; some &= some - 1 {
		i := bits.TrailingZeros64(some)
		s := m.arena.Movers[i].At(m.moving.moment)
		if _, ok := m.body.contact(&s, b.Pos, geom.Vec3{}); ok {
			m.moving.passed |= 1 << i
		}
	}
}
