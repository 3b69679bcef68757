package move

import "github.com/tickrate/tickrate/ecs/geom"

// drive is the first half of a tick: from the input to the state of locomotion and the velocity
// wanted.
func (b *Body) drive(m *Motion, in Input, rate uint16, dt float32) {
	s := State{m.Loco, m.Jumps, m.Since, m.Held}
	in = *b.advance(&s, &in, rate)
	m.Loco, m.Jumps, m.Since, m.Held = s.Loco, s.Jumps, s.Since, s.Held
	speed := b.walk
	if in.Sprints() {
		speed = b.run
	}
	switch m.Loco {
	case Stand, GroundMove:
		m.Vel = accelerate(m.Vel, in, grip{b.friction, b.accel}, speed, dt)
		m.Vel.Y = -b.stick * dt
	case Jumping, DoubleJump:
		m.Vel = accelerate(m.Vel, in, grip{b.airFriction, b.airAccel}, speed, dt)
		m.Vel.Y = b.jumpSpeed
	case InAir:
		m.Vel = accelerate(m.Vel, in, grip{b.airFriction, b.airAccel}, speed, dt)
		m.Vel.Y = b.fallVelocity(m.Vel.Y, dt)
	case Launched:
		m.Vel = b.flight(geom.Angle(m.Held&heading), m.Since, rate)
	default:
		m.Vel = accelerate(m.Vel, in, grip{b.friction, 0}, speed, dt)
		m.Vel.Y = b.fallVelocity(m.Vel.Y, dt)
	}
}

// advance is the state machine: the state of locomotion that the input leads to. It returns the
// input that counts: the dead have none.
func (b *Body) advance(s *State, in *Input, rate uint16) *Input {
	if s.Loco >= locos {
		s.Loco = Dead
	}
	if s.Loco == Dead {
		in = &noInput
	}
	if next := b.next(s, in, rate); next != s.Loco {
		s.Loco, s.Since = next, 0
	}
	if s.Held = in.Buttons&Jump | s.Held&heading; s.Loco != Launched {
		s.Held &= Jump
	}
	return in
}

// noInput is nobody's to change.
var noInput Input

// next is the state of locomotion that the input leads to, and counts the jumps.
func (b *Body) next(s *State, in *Input, rate uint16) Loco {
	fresh := in.Buttons&^s.Held&Jump != 0
	switch s.Loco {
	case Stand, GroundMove:
		s.Jumps = 0
		if fresh && b.jumps > 0 {
			s.Jumps = 1
			return Jumping
		}
		return Loco(one(in.MoveMag > 0)) // Stand or GroundMove
	case Jumping, DoubleJump:
		if passed(s.Since, rate, b.jumpMillis) {
			return InAir
		}
	case InAir:
		if fresh && s.Jumps < b.jumps && b.jumps > 1 {
			s.Jumps = max(s.Jumps, 1) + 1 // also after walking off a ledge: that was the first
			return DoubleJump
		}
	case Launched:
		if passed(s.Since, rate, b.arcMillis) {
			return InAir
		}
	}
	return s.Loco
}

// fallVelocity is an upward velocity after gravity of a tick.
func (b *Body) fallVelocity(y, dt float32) float32 {
	y -= float32(b.gravity * dt)
	if y < -b.fallSpeed {
		y = -b.fallSpeed
	}
	return y
}

// flight is the velocity of a rocket jump since ticks after its start.
func (b *Body) flight(yaw geom.Angle, since, rate uint16) geom.Vec3 {
	up := b.arcStart
	if b.arcMillis > 0 {
		up += int32(int64(b.arcTurn) * int64(since) * 1000 / (int64(rate) * int64(b.arcMillis)))
	}
	return geom.Forward(yaw, geom.Angle(uint16(up))).Scale(b.arcSpeed)
}

// grip is how a body holds on to the ground, or the air: 1/s each.
type grip struct{ friction, accel float32 }

// accelerate is FPSSample's velocity over the ground: friction first, then towards the wish as
// Quake II has it: only the speed along the wish is limited, so that turning in the air gains speed
// ("easterBunny").
func accelerate(v geom.Vec3, in Input, g grip, speed, dt float32) geom.Vec3 {
	if v.X != 0 || v.Z != 0 {
		level := geom.Sqrt(float32(v.X*v.X) + float32(v.Z*v.Z))
		left := level - float32(max(level, 1)*dt*g.friction)
		if left < 0 {
			left = 0
		}
		keep := left / level
		v.X *= keep
		v.Z *= keep
	}
	if in.MoveMag == 0 {
		return v
	}
	sin, cos := in.wishYaw().SinCos()
	along := float32(v.X*sin) + float32(v.Z*cos)
	add := in.wishSpeed(speed) - along
	if add > 0 {
		if most := dt * g.accel * speed; add > most {
			add = most
		}
		v.X += float32(add * sin)
		v.Z += float32(add * cos)
	}
	return v
}

// wishYaw is where an input moves to.
func (in *Input) wishYaw() geom.Angle { return in.Yaw + geom.Angle(in.MoveYaw)<<8 }

// wishSpeed is how fast an input moves, of a full speed.
func (in *Input) wishSpeed(full float32) float32 {
	return float32(full * float32(in.MoveMag) * (1. / 255))
}
