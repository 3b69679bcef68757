package move

import (
	"github.com/tickrate/tickrate/ecs/geom"
)

// Push is what the blows of one tick do to the velocity of one body together, in whole numbers of VelUnit: sums of it do
// not depend on the order of the blows.
//
// A knock-back predicts because nothing but Motion carries it: whoever resolves the blows of a tick adds them up, and
// applies the sum with ApplyPush after the body's Step and before its Motion is told to its owner. The owner's row then
// holds Vel and Loco as the blow left them, on the grid of the wire, and the owner's replay from that row has the
// server's bits. (The reference replicates a blow's direction without its size, and mispredicts every one.)
type Push struct{ X, Y, Z int32 }

// maxPush is what a coordinate of a Push stops at: far beyond TopSpeed, and two of it still have room in an int32.
const maxPush = 1 << 30

// Add adds a blow of so many m/s; each coordinate is cut to TopSpeed, what is not a number counts as 0.
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

// ApplyPush returns m after the blows of its tick: thrown into the air at the sum of all velocities, cut to TopSpeed along
// each axis. The dead are thrown too, and stay dead. A Push of zero changes nothing.
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

// Teleport returns m at another place, leaving it at the speed it came with, level and towards yaw. A walker stays one:
// the next tick finds the floor, or that there is none. A jump or rocket jump ends.
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

// Launch returns m as a rocket jump towards yaw begins: the next tick flies along the body's arc. It counts as a jump.
// The dead stay where they are.
func Launch(m Motion, yaw geom.Angle) Motion {
	if m.Loco != Dead {
		m.Loco, m.Since, m.Jumps = Launched, 0, max(m.Jumps, 1)
		m.Held = m.Held&Jump | uint16(yaw+1<<7)&heading
	}
	return m
}
