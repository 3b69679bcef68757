package move

import "github.com/tickrate/tickrate/ecs/geom"

// The reference's numbers that only drive needs.
const (
	acceleration    = 30
	friction        = 16
	airAcceleration = 1
	airFriction     = 0.5
	jumpSpeed       = JumpHeight / JumpTime
	stickiness      = 400 // m/s2 that hold a walker to the ground
)

// drive is the first half of a tick: from the input to the state of locomotion and the velocity wanted.
func drive(m *Motion, in Input, rate uint16, dt float32) {
	if m.Loco >= Dead {
		m.Loco = Dead
		in = Input{}
	}
	next := m.next(in, rate)
	if next != m.Loco {
		m.Loco, m.Since = next, 0
	}
	m.Held = in.Buttons & Jump
	speed := float32(WalkSpeed)
	if in.Sprints() {
		speed = RunSpeed
	}
	switch m.Loco {
	case Stand, GroundMove:
		m.Vel = accelerate(m.Vel, in, speed, friction, acceleration, dt)
		m.Vel.Y = -stickiness * dt
	case Jumping, DoubleJump:
		m.Vel = accelerate(m.Vel, in, speed, airFriction, airAcceleration, dt)
		m.Vel.Y = jumpSpeed
	case InAir:
		m.Vel = accelerate(m.Vel, in, speed, airFriction, airAcceleration, dt)
		m.Vel.Y = fall(m.Vel.Y, dt)
	default:
		m.Vel = accelerate(m.Vel, in, speed, friction, 0, dt)
		m.Vel.Y = fall(m.Vel.Y, dt)
	}
}

// next is the state of locomotion that the input leads to, and counts the jumps.
func (m *Motion) next(in Input, rate uint16) Loco {
	fresh := in.Buttons&^m.Held&Jump != 0
	switch m.Loco {
	case Stand, GroundMove:
		m.Jumps = 0
		if fresh {
			m.Jumps = 1
			return Jumping
		}
		if in.MoveMag > 0 {
			return GroundMove
		}
		return Stand
	case Jumping, DoubleJump:
		if uint32(m.Since)*10 >= uint32(rate)*3 { // 0.3 s, without a rounded second
			return InAir
		}
	case InAir:
		if fresh && m.Jumps < 2 {
			m.Jumps = 2 // also after walking off a ledge: one jump in the air, not two
			return DoubleJump
		}
	}
	return m.Loco
}

func fall(y, dt float32) float32 {
	y -= float32(Gravity * dt)
	if y < -FallSpeed {
		y = -FallSpeed
	}
	return y
}

// accelerate is the reference's velocity over the ground: friction first, then towards the wish as Quake II has it:
// only the speed along the wish is limited, so that turning in the air gains speed ("easterBunny").
func accelerate(v geom.Vec3, in Input, speed, friction, accel, dt float32) geom.Vec3 {
	if v.X != 0 || v.Z != 0 {
		g := geom.Sqrt(float32(v.X*v.X) + float32(v.Z*v.Z))
		left := g - float32(max(g, 1)*dt*friction)
		if left < 0 {
			left = 0
		}
		keep := left / g
		v.X *= keep
		v.Z *= keep
	}
	if in.MoveMag == 0 {
		return v
	}
	sin, cos := (in.Yaw + geom.Angle(in.MoveYaw)<<8).SinCos()
	along := float32(v.X*sin) + float32(v.Z*cos)
	add := float32(speed*float32(in.MoveMag)*(1./255)) - along
	if add > 0 {
		if most := dt * accel * speed; add > most {
			add = most
		}
		v.X += float32(add * sin)
		v.Z += float32(add * cos)
	}
	return v
}
