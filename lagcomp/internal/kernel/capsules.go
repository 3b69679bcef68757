package kernel

import "unsafe"

// Capsules are 16 capsules by the ends of their axes, A and B.
type Capsules struct{ AX, AY, AZ, BX, BY, BZ [16]float32 }

// Flesh is how thick each is, and the radius of a ball round the middle of each axis: a capsule whose ball is not touched does not count.
type Flesh struct{ Radius, Around [16]float32 }

// Flight is a ball that flies from O along the unit direction D for Max metres at the most; a Radius of 0 is a ray.
type Flight struct{ OX, OY, OZ, DX, DY, DZ, Max, Radius float32 }

// Answers of First that are no lane.
const (
	Misses    = -1
	Undecided = -2 // the caller has to look himself: there is no assembly, or a capsule has no length
)

// First is the capsule that f touches first, the last of those equally near, and how far along. Each is judged as geom.Ray.Capsule does, to
// the bit.
func (c *Capsules) First(f *Flight, thick *Flesh) (lane int, t float32) {
	return level.capsules(f, c, thick)
}

// Assembly knows the offsets.
var (
	_ [6 * 64]byte = [unsafe.Sizeof(Capsules{})]byte{}
	_ [3 * 64]byte = [unsafe.Offsetof(Capsules{}.BX)]byte{}
	_ [64]byte     = [unsafe.Offsetof(Flesh{}.Around)]byte{}
	_ [2 * 64]byte = [unsafe.Sizeof(Flesh{})]byte{}
	_ [12]byte     = [unsafe.Offsetof(Flight{}.DX)]byte{}
	_ [24]byte     = [unsafe.Offsetof(Flight{}.Max)]byte{}
	_ [32]byte     = [unsafe.Sizeof(Flight{})]byte{}
)
