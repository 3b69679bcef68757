package kernel

import "unsafe"

// Capsules are 16 capsules by the ends of their axes, A and B.
type Capsules struct{ AX, AY, AZ, BX, BY, BZ [16]float32 }

// Radii is how thick each is, and the radius of a ball round the middle of each axis: a capsule whose ball is not touched does not count.
type Radii struct{ Radius, Bound [16]float32 }

// MovingSphere is a ball that flies from O along the unit direction D for Max metres at the most; a Radius of 0 is a ray.
type MovingSphere struct{ OX, OY, OZ, DX, DY, DZ, Max, Radius float32 }

// Answers of First that are no lane.
const (
	Misses    = -1
	Undecided = -2 // the caller has to look himself: there is no assembly, or a capsule has no length
)

// FirstHit is the capsule that f touches first, the last of those equally near, and how far along. Each is judged as geom.Ray.Capsule does, to
// the bit.
func (c *Capsules) FirstHit(f *MovingSphere, thick *Radii) (lane int, t float32) {
	return level.capsules(f, c, thick)
}

// Assembly knows the offsets.
var (
	_ [6 * 64]byte = [unsafe.Sizeof(Capsules{})]byte{}
	_ [3 * 64]byte = [unsafe.Offsetof(Capsules{}.BX)]byte{}
	_ [64]byte     = [unsafe.Offsetof(Radii{}.Bound)]byte{}
	_ [2 * 64]byte = [unsafe.Sizeof(Radii{})]byte{}
	_ [12]byte     = [unsafe.Offsetof(MovingSphere{}.DX)]byte{}
	_ [24]byte     = [unsafe.Offsetof(MovingSphere{}.Max)]byte{}
	_ [32]byte     = [unsafe.Sizeof(MovingSphere{})]byte{}
)
