package ability

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// DrawKey is all that a random number of the match depends on.
type DrawKey struct {
	Seed   uint64    // of the match
	Entity uint32    // net id of the player
	Tick   tick.Tick // of the command
	Shot   uint8     // Action.Shot
}

// Aim returns the direction of a shot: within the cone around its view, a half angle in 1/256
// degree, evenly over the disc. It depends on its arguments only, so clients that know the seed
// compute the same. The length is 1.
func Aim(d DrawKey, yaw, pitch geom.Angle, cone uint16) geom.Vec3 {
	ahead := geom.Forward(yaw, pitch)
	if cone == 0 {
		return ahead
	}
	bits := Draw(d)
	unit := float64(bits>>40) / (1 << 24) // [0, 1)
	out := geom.Angle(int32(math.Sqrt(unit) * float64(cone) * (geom.Turn / (360.0 * 256))))
	up, right := geom.Angle(bits).SinCos() // which way out
	sin, cos := out.SinCos()
	dir := ahead.Scale(cos).Mad(geom.Forward(yaw+0x4000, 0), float32(right*sin)).Mad(geom.Forward(yaw,
		pitch+0x4000), float32(up*sin))
	return dir.Normalize()
}

// Draw is a counter-based random number: equal arguments give the same 64 bits, and neighbours are
// independent. It is two rounds of the SplitMix64 finaliser (Steele, Lea and Flood 2014; constants
// of Stafford's variant 13).
func Draw(d DrawKey) uint64 {
	return mix(mix(d.Seed+0x9e3779b97f4a7c15*(uint64(d.Tick)+1)) +
		0xd1b54a32d192ed03*((uint64(d.Entity)|uint64(d.Shot)<<32)+1))
}

func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}
