package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
)

// Step takes m through one tick of 1/rate seconds. Any motion and input are safe: what the wire could not carry is
// rounded first, and a body that stands in a solid is moved out of it. The result is rounded as Round would. A rate of
// 0 leaves m as it is.
func Step(m Motion, in Input, a *arena.Arena, rate uint16) Motion {
	if rate == 0 {
		return m
	}
	body := mover{arena: a}
	dt := 1 / float32(rate)
	m = Round(m)
	drive(&m, in, rate, dt)
	body.resolve(&m, in, m.Vel.Scale(dt), rate)
	settle(&m, body.origin)
	return m
}

// settle ends a tick: b.Pos, so far measured from origin, is rounded to the wire's grid, and with it the velocity.
func settle(b *Motion, origin geom.Vec3) {
	b.Pos = origin.Add(roundPos(b.Pos))
	b.Vel = roundVel(b.Vel)
}

// StepColumns takes every row of c through one tick, as Step would, to the same bits. in has a row for each.
//
// It is one loop on purpose. Drive, way, collision and rounding as stages over 128 rows each, the way multiplied by
// vek, took the same time within the noise: two thirds of a tick are collision, which differs from row to row.
func StepColumns(c Columns, in []Input, a *arena.Arena, rate uint16) {
	if rate == 0 {
		return
	}
	vel, state, in := c.Vel[:len(c.Pos)], c.State[:len(c.Pos)], in[:len(c.Pos)]
	body := mover{arena: a}
	dt := 1 / float32(rate)
	for i := range c.Pos {
		m := Round(Join(c.Pos[i], vel[i], state[i]))
		drive(&m, in[i], rate, dt)
		body.resolve(&m, in[i], m.Vel.Scale(dt), rate)
		settle(&m, body.origin)
		c.Pos[i], vel[i], state[i] = Split(m)
	}
}
