package kernel

import "unsafe"

// Capsules is 16 capsules by the ends A and B of their axes.
type Capsules struct{ AX, AY, AZ, BX, BY, BZ [16]float32 }

// Radii holds the radius of each capsule, and of a bounding ball around the middle of each axis: a
// capsule whose ball is not touched is not tested.
type Radii struct{ Radius, Bound [16]float32 }

// MovingSphere is a sphere that flies from O along the unit direction D for at most Max metres; a
// Radius of 0 is a ray.
type MovingSphere struct{ OX, OY, OZ, DX, DY, DZ, Max, Radius float32 }

// Results of FirstHit that are no lane.
const (
	Misses    = -1
	Undecided = -2 // no assembly, or a capsule of length 0: the caller must test
)

// FirstHit returns the capsule that f touches first, the last of those equally near, and how far
// along. It judges each as geom.Ray.Capsule does, to the bit.
func (c *Capsules) FirstHit(f *MovingSphere, thick *Radii) (lane int, t float32) {
	return level.capsules(f, c, thick)
}

// Offsets that the assembly relies on.
var (
	_ [6 * 64]byte = [unsafe.Sizeof(Capsules{})]byte{}
	_ [3 * 64]byte = [unsafe.Offsetof(Capsules{}.BX)]byte{}
	_ [64]byte     = [unsafe.Offsetof(Radii{}.Bound)]byte{}
	_ [2 * 64]byte = [unsafe.Sizeof(Radii{})]byte{}
	_ [12]byte     = [unsafe.Offsetof(MovingSphere{}.DX)]byte{}
	_ [24]byte     = [unsafe.Offsetof(MovingSphere{}.Max)]byte{}
	_ [32]byte     = [unsafe.Sizeof(MovingSphere{})]byte{}
)
