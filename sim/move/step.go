package move

import (
	"github.com/tickrate/tickrate/sim/arena"
)

// NoTeam is the team of a body that no team area lets through.
const NoTeam = 255

// Step takes m through one tick of 1/rate seconds, as a body of a team: solids of that team's
// areas do not stop it. Any motion, input and team are safe: numbers that the wire cannot carry
// are rounded first, and a body inside a solid is moved out of it. The result is rounded as Round
// would. A rate of 0 leaves m as it is.
func (b *Body) Step(m Motion, in Input, team uint8, a *arena.Arena, rate uint16) Motion {
	if rate == 0 {
		return m
	}
	body := mover{arena: a, body: b, pass: arena.PassTeam(team)}
	m.round()
	body.step(&m, &in, rate, 1/float32(rate))
	return m
}

// step is one body's tick, in place, from a rounded motion to one. It copies no motion, as a copy
// of a struct that was just written would wait.
func (m *mover) step(b *Motion, in *Input, rate uint16, dt float32) {
	m.body.drive(b, *in, rate, dt)
	m.resolve(b, in, b.Vel.Scale(dt), rate)
	b.Pos = m.origin.Add(roundPos(b.Pos)) // so far it was measured from there
	b.Vel = roundVel(b.Vel)
}

// BodyTeam is the body and the team of a row.
type BodyTeam struct {
	Body uint8 // index into the bodies of StepBodies
	Team uint8 // see Body.Step
}

// Rows are bodies with what they are to do in a tick; In and Who have an entry for each row.
type Rows struct {
	Columns
	In  []Input
	Who []BodyTeam
}

// StepBodies takes every row through one tick, as Body.Step would, to the same bits; bodies holds
// what Who.Body indexes. It panics for an index out of range.
//
// It is one loop on purpose: stages over 128 rows each took the same time, as two thirds of a tick
// are collision, which differs from row to row.
func StepBodies(r Rows, bodies []*Body, a *arena.Arena, rate uint16) {
	if rate == 0 {
		return
	}
	c, n := &r.Columns, len(r.Pos)
	vel, state, in, who := c.Vel[:n], c.State[:n], r.In[:n], r.Who[:n]
	body := mover{arena: a}
	var m Motion
	dt := 1 / float32(rate)
	for i := range c.Pos {
		body.body, body.pass = bodies[who[i].Body], arena.PassTeam(who[i].Team)
		m.Load(&c.Pos[i], &vel[i], &state[i])
		m.round()
		body.step(&m, &in[i], rate, dt)
		m.store(&c.Pos[i], &vel[i], &state[i])
	}
}
