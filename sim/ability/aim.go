package ability

import (
	"math"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// Aim returns the direction of a shot that an entity fires in tick t: within the cone around its view, a half angle in
// 1/256 degree, evenly over the disc. shot is Action.Shot. It depends on nothing else, so clients that know the seed
// compute the same. The length is 1.
func Aim(seed uint64, entity uint32, t tick.Tick, shot uint8, yaw, pitch geom.Angle, cone uint16) geom.Vec3 {
	ahead := geom.Forward(yaw, pitch)
	if cone == 0 {
		return ahead
	}
	bits := Draw(seed, entity, t, shot)
	unit := float64(bits>>40) / (1 << 24) // [0, 1)
	out := geom.Angle(int32(math.Sqrt(unit) * float64(cone) * (geom.Turn / (360.0 * 256))))
	up, right := geom.Angle(bits).SinCos() // which way out
	sin, cos := out.SinCos()
	d := ahead.Scale(cos).Mad(geom.Forward(yaw+0x4000, 0), float32(right*sin)).Mad(geom.Forward(yaw, pitch+0x4000), float32(up*sin))
	return d.Normalize()
}

// Draw is a counter-based random number: the same arguments always give the same 64 bits, and neighbours share nothing.
// Two rounds of the SplitMix64 finaliser (Steele, Lea and Flood 2014; constants of Stafford's variant 13).
func Draw(seed uint64, entity uint32, t tick.Tick, shot uint8) uint64 {
	return mix(mix(seed+0x9e3779b97f4a7c15*(uint64(t)+1)) + 0xd1b54a32d192ed03*((uint64(entity)|uint64(shot)<<32)+1))
}

func mix(z uint64) uint64 {
	z ^= z >> 30
	z *= 0xbf58476d1ce4e5b9
	z ^= z >> 27
	z *= 0x94d049bb133111eb
	return z ^ z>>31
}
