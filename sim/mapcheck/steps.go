package mapcheck

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/move"
)

// fullSpeed is Input.MoveMag of a body that moves as fast as it can.
const fullSpeed = 255

// land steps a body with one input until it stands on a solid. ok is false if it is still in the air
// after flightTicks, or stands on the bounds of the map, where no solid is.
func (f *flood) land(m move.Motion, in move.Input, team uint8) (move.Motion, bool) {
	m.Loco = move.InAir
	for range flightTicks {
		m = f.body.Step(m, in, team, f.a, floodMoment)
		if m.Loco.Grounded() {
			return m, m.Pos.Y > f.a.Bounds.Min.Y
		}
	}
	return m, false
}

// walk takes a body towards the middle of the next square, where it stops. arrived says that it
// stands in another square than before, level that it got there on its feet.
func (f *flood) walk(p place, goal geom.Vec3) (at geom.Vec3, arrived, level bool) {
	fromX, fromZ := f.index(p.at)
	m := move.Motion{Pos: p.at, Loco: move.Stand}
	near := float32(f.square * 0.25)
	ticks := 4 + int(float32(f.square*1.5*floodRate)/max(f.params.WalkSpeed, 0.1))
	for range min(ticks, flightTicks) {
		to := goal.Sub(m.Pos)
		m = f.body.Step(m, move.Input{Yaw: geom.Atan2(to.X, to.Z), MoveMag: fullSpeed}, p.team, f.a, floodMoment)
		if !m.Loco.Grounded() {
			down, ok := f.land(m, move.Input{}, p.team)
			x, z := f.index(down.Pos)
			return down.Pos, ok && (x != fromX || z != fromZ), false
		}
		to = goal.Sub(m.Pos)
		if float32(to.X*to.X)+float32(to.Z*to.Z) <= float32(near*near) {
			return m.Pos, m.Pos.Y > f.a.Bounds.Min.Y, true
		}
	}
	x, z := f.index(m.Pos)
	moved := (x != fromX || z != fromZ) && m.Pos.Y > f.a.Bounds.Min.Y
	return m.Pos, moved, moved
}

// walkOff walks a body straight on for edgeTicks. If it falls on the way, at is where it lands; ok is
// false if that is nowhere.
func (f *flood) walkOff(p place, yaw geom.Angle) (at geom.Vec3, ok bool) {
	const edgeTicks = floodRate / 3 // a body hangs on the edge for a radius
	m := move.Motion{Pos: p.at, Loco: move.Stand}
	for range edgeTicks {
		if m = f.body.Step(m, move.Input{Yaw: yaw, MoveMag: fullSpeed}, p.team, f.a, floodMoment); !m.Loco.Grounded() {
			m, ok = f.land(m, move.Input{}, p.team)
			return m.Pos, ok
		}
	}
	return m.Pos, true
}

// jump runs and jumps a body towards a place with all its jumps, each as soon as the last has ended,
// and returns where it lands. A run-up is taken for granted.
func (f *flood) jump(p place, goal geom.Vec3) (geom.Vec3, bool) {
	ahead := goal.Sub(p.at)
	ahead.Y = 0
	ahead = ahead.Normalize()
	in := move.Input{Yaw: geom.Atan2(ahead.X, ahead.Z), MoveMag: fullSpeed, Buttons: move.Sprint | move.Jump}
	m := move.Round(move.Motion{Pos: p.at, Vel: ahead.Scale(f.params.SprintSpeed), Loco: move.GroundMove})
	for range flightTicks {
		m = f.body.Step(m, in, p.team, f.a, floodMoment)
		if m.Loco.Grounded() {
			return m.Pos, m.Pos.Y > f.a.Bounds.Min.Y
		}
		in.Buttons = move.Sprint
		if m.Loco == move.InAir && m.Jumps < f.params.Jumps {
			in.Buttons |= move.Jump
		}
	}
	return m.Pos, false
}
