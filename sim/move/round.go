package move

import "github.com/tickrate/tickrate/ecs/geom"

// The grid of the wire: positions in 1/4096 m, velocities in 1/1024 m/s.
const (
	PosUnit = 1. / 4096
	VelUnit = 1. / 1024
)

// Adding and taking away 1.5 * 2^52 units leaves a float64 rounded to whole units, halves to even:
// no branch, no processor's choice.
const (
	posMagic = 3 << 51 * PosUnit
	velMagic = 3 << 51 * VelUnit
)

func roundPosition(x float32) float32 { return float32(float64(float64(x)+posMagic) - posMagic) }
func roundVelocity(x float32) float32 { return float32(float64(float64(x)+velMagic) - velMagic) }

// Round returns m as the wire can carry it: Pos at the nearest multiple of PosUnit, Vel of VelUnit
// and within TopSpeed along each axis, numbers that are not finite replaced by 0. Step's result is
// already rounded.
func Round(m Motion) Motion {
	m.round()
	return m
}

func (m *Motion) round() { RoundAt(&m.Pos, &m.Vel) }

// RoundAt is Round of a position and a velocity in place.
func RoundAt(pos, vel *geom.Vec3) {
	if !pos.Finite() {
		*pos = geom.Vec3{}
	}
	*pos = roundPos(*pos)
	*vel = roundVel(*vel)
}

func roundPos(p geom.Vec3) geom.Vec3 {
	return geom.Vec3{X: roundPosition(p.X), Y: roundPosition(p.Y), Z: roundPosition(p.Z)}
}

func roundVel(v geom.Vec3) geom.Vec3 {
	return geom.Vec3{X: roundVelocity(cleanVelocity(v.X)), Y: roundVelocity(cleanVelocity(v.Y)),
		Z: roundVelocity(cleanVelocity(v.Z))}
}

// cleanVelocity is x within TopSpeed; NaN becomes 0.
func cleanVelocity(x float32) float32 {
	switch {
	case x >= -TopSpeed && x <= TopSpeed:
		return x
	case x > TopSpeed:
		return TopSpeed
	case x < -TopSpeed:
		return -TopSpeed
	}
	return 0
}
