package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
)

// Push is the sum of all knock-backs of one tick on one body, in integers of VelUnit, so that it
// does not depend on their order.
//
// A knock-back predicts because only Motion carries it: the caller adds up the blows of a tick and
// applies the sum with ApplyPush after the body's Step and before its Motion is sent to its owner.
// The owner's row then holds Vel and Loco after the blow, on the grid of the wire, and the owner's
// replay from that row has the server's bits. (FPSSample replicates a blow's direction without
// its size, and mispredicts every one.)
type Push struct{ X, Y, Z int32 }

// maxPush is the limit of a coordinate of a Push: far beyond TopSpeed, and twice of it fits an
// int32.
const maxPush = 1 << 30

// Add adds a blow in m/s; each coordinate is limited to TopSpeed, NaN counts as 0.
func (p *Push) Add(impulse geom.Vec3) {
	v := roundVel(impulse)
	p.X = add(p.X, v.X)
	p.Y = add(p.Y, v.Y)
	p.Z = add(p.Z, v.Z)
}

// metres is n VelUnit in m/s.
func metres(n int32) float32 { return float32(float32(n) * VelUnit) }

func add(sum int32, v float32) int32 {
	return min(max(sum+int32(v*(1/VelUnit)), -maxPush), maxPush)
}

// ApplyPush returns m after the blows of its tick: in the air at the sum of all velocities,
// limited to TopSpeed along each axis. Dead bodies are moved too, and stay dead. A zero Push
// changes nothing.
func ApplyPush(m Motion, p Push) Motion {
	if p == (Push{}) {
		return m
	}
	m.Vel = roundVel(m.Vel.Add(geom.Vec3{X: metres(p.X), Y: metres(p.Y), Z: metres(p.Z)}))
	if m.Loco != Dead {
		m.Loco, m.Since = InAir, 0
	}
	return m
}

// Teleport returns m at another place, leaving at its speed, level and towards yaw. A walking body
// stays one: the next tick finds the floor, or that there is none. A jump or rocket jump ends.
func Teleport(m Motion, to geom.Vec3, yaw geom.Angle) Motion {
	sin, cos := yaw.SinCos()
	speed := m.Vel.Len()
	m.Pos = to
	m.Vel = geom.Vec3{X: sin * speed, Z: cos * speed}
	if !m.Loco.Grounded() && m.Loco != Dead {
		m.Loco, m.Since = InAir, 0
	}
	return Round(m)
}

// Launch returns m as a rocket jump towards yaw begins: the next tick flies along the body's arc.
// It counts as a jump. The dead stay where they are.
func Launch(m Motion, yaw geom.Angle) Motion {
	if m.Loco != Dead {
		m.Loco, m.Since, m.Jumps = Launched, 0, max(m.Jumps, 1)
		m.Held = m.Held&Jump | uint16(yaw+1<<7)&heading
	}
	return m
}
