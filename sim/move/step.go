package move

import (
	"github.com/tickrate/tickrate/sim/arena"
)

// NoTeam is the team of a body that no team area lets through.
const NoTeam = 255

// Step takes m through one tick of 1/rate seconds, as a body of a team: solids of that team's
// areas do not stop it. Any motion, input and team are safe: numbers that the wire cannot carry
// are rounded first, and a body inside a solid is moved out of it. The result is rounded as Round
// would. The tick is the one that ends now, where the map's movers then are. A rate of 0 leaves m as
// it is.
func (b *Body) Step(m Motion, in Input, team uint8, a *arena.Arena, now arena.Moment) Motion {
	if now.Rate == 0 {
		return m
	}
	body := collider{arena: a, body: b, pass: arena.PassTeam(team)}
	body.moving.moment = now
	m.round()
	body.step(&m, &in, 1/float32(now.Rate))
	return m
}

// step is one body's tick, in place, from a rounded motion to one. It copies no motion, as a copy
// of a struct that was just written would wait.
func (m *collider) step(b *Motion, in *Input, dt float32) {
	moves, rate := m.arena.Moves(), uint16(m.moving.moment.Rate)
	if moves {
		m.carryAndPush(b)
	}
	m.body.drive(b, *in, rate, dt)
	m.cell = m.arena.Near(b.Pos.X, b.Pos.Z)
	if moves {
		m.lookForMovers(b.Pos.X, b.Pos.Z)
	}
	m.resolve(b, in, b.Vel.Scale(dt), rate)
	b.Pos = m.origin.Add(roundPos(b.Pos)) // so far it was measured from there
	b.Vel = roundVel(b.Vel)
	if moves {
		m.changeCarrier(b)
	}
}
