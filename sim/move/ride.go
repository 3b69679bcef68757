package move

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// What movers do to a body, before it moves by itself: the mover that it stands on takes it along,
// then every mover that it is in pushes it out the shortest way. The map's solids stop both. A mover
// passes through a body that it presses against a solid: it is no obstacle to the body in that tick,
// and pushes again in the next, until a shortest way is free. No body is pushed faster than pushSpeed.
//
// A velocity is measured over what the body stands on. Whoever gets off a mover, or jumps, keeps
// its horizontal velocity, and who gets on loses it.

// Implementation constants of pushes by movers.
const (
	maxShoves = 3                       // rounds in a tick
	pushSpeed = 2 * arena.MaxMoverSpeed // m/s: a body between two movers follows both
)

// movingSolids are the movers near a body, where they are at the end of the tick.
type movingSolids struct {
	moment arena.Moment
	solids [arena.MaxNearMovers]arena.Solid
	count  int
	passed uint64 // movers that are no obstacles in this tick
}

// lookForMovers takes the movers near a place.
func (m *collider) lookForMovers(x, z float32) {
	m.moving.count = 0
	for near := m.arena.MoversNear(x, z) &^ m.moving.passed; near != 0; near &= near - 1 {
		m.moving.solids[m.moving.count] = m.arena.Movers[bits.TrailingZeros64(near)].At(m.moving.moment)
		m.moving.count++
	}
}

// solid is what near lists: one of the cell, or after those a mover.
func (m *collider) solid(i uint8) *arena.Solid {
	if int(i) < len(m.cell) {
		return &m.cell[i]
	}
	return &m.moving.solids[(int(i)-len(m.cell))&(arena.MaxNearMovers-1)]
}

// stepByMovers is step for a body with movers near.
func (m *collider) stepByMovers(b *Motion, in *Input, dt float32, near uint64) {
	now := m.moving.moment
	carrier := m.carrier(b, near, now.Before())
	if carrier >= 0 {
		m.shift(b, m.arena.Movers[carrier].Displacement(now))
	}
	m.push(b, near)
	m.stepAlone(b, in, dt)
	hz := float32(now.Rate)
	if got := m.carrier(b, m.arena.MoversNear(b.Pos.X, b.Pos.Z), now); got != carrier {
		v := b.Vel
		if carrier >= 0 {
			v = v.Mad(m.arena.Movers[carrier].Displacement(now), hz)
		}
		if got >= 0 {
			v = v.Mad(m.arena.Movers[got].Displacement(now), -hz)
		}
		b.Vel = roundVel(geom.Vec3{X: v.X, Y: b.Vel.Y, Z: v.Z})
	}
	m.moving.passed = 0
}

// carrier is the first mover of near that a body stands on at a moment, -1 for none. The dead are
// carried, too.
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

// shift moves a body as a mover does it, up to what stands in the way.
func (m *collider) shift(b *Motion, by geom.Vec3) {
	if by == (geom.Vec3{}) {
		return
	}
	m.moving.passed = ^uint64(0) // only the map's solids are in the way
	m.begin(b)
	p, _, _ := m.fly(by)
	b.Pos = m.origin.Add(roundPos(p))
}

// push pushes a body out of movers, and notes those that it does not get out of.
func (m *collider) push(b *Motion, near uint64) {
	inside, left := near, pushSpeed/float32(m.moving.moment.Rate)+skin
	for range maxShoves {
		inside = 0
		for some := near; some != 0; some &= some - 1 {
			i := bits.TrailingZeros64(some)
			s := m.arena.Movers[i].At(m.moving.moment)
			if t, ok := m.body.contact(&s, b.Pos, geom.Vec3{}); ok {
				by := min(t.depth, left)
				left -= by
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
