package rig

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// capsules is a body as the assembly takes it: 16 capsules in columns, one bone a lane, and the
// head.
type capsules struct {
	kernel.Capsules
	head [2]geom.Vec3
}

var _ [16]byte = [Head]byte{} // every bone but the head has a lane

// capsule is one of them.
func (b *capsules) capsule(i Bone, k *Skeleton) geom.Capsule {
	if i == Head {
		return geom.Capsule{A: b.head[0], B: b.head[1], Radius: k.radii.head}
	}
	return geom.Capsule{A: geom.Vec3{X: b.AX[i], Y: b.AY[i], Z: b.AZ[i]}, B: geom.Vec3{X: b.BX[i],
		Y: b.BY[i], Z: b.BZ[i]}, Radius: k.radii.Radius[i]}
}

// radii is the radii of a skeleton's capsules, and of a ball around each that holds it with 2 mm
// to spare, as directions have unit length but for rounding.
type radii struct {
	kernel.Radii
	head, headBound float32
}

// fillRadii fills radii from Joints.
func (k *Skeleton) fillRadii() {
	for i := range k.Joints {
		j := &k.Joints[i]
		around := float32(j.Length/2) + j.Radius + 2e-3
		if Bone(i) == Head {
			k.radii.head, k.radii.headBound = j.Radius, around
			continue
		}
		k.radii.Radius[i], k.radii.Bound[i] = j.Radius, around
	}
}

// first is the bone that r hits first, grown by some metres: the later of those equally near.
func (b *capsules) first(r *geom.Ray, grow float32, k *Skeleton) (bone Bone, t float32, ok bool) {
	f := kernel.MovingSphere{
		OX: r.Origin.X, OY: r.Origin.Y, OZ: r.Origin.Z, DX: r.Dir.X, DY: r.Dir.Y, DZ: r.Dir.Z, Max: r.Max,
		Radius: grow,
	}
	lane, t := b.Capsules.FirstHit(&f, &k.radii.Radii)
	switch {
	case lane == kernel.Undecided:
		bone, t, ok = b.firstGeneric(r, grow, k)
	case lane >= 0:
		bone, ok = Bone(lane), true
	default:
		t = r.Max
	}
	if _, may := b.near(r, grow, b.head[0], b.head[1], k.radii.headBound); may {
		if d, hit := r.Capsule(geom.Capsule{A: b.head[0], B: b.head[1], Radius: k.radii.head +
			grow}); hit && d <= t {
			return Head, d, true
		}
	}
	return bone, t, ok
}

// firstGeneric is the reference of kernel.Capsules.FirstHit, and its replacement where there is no
// assembly. A ball around each bone tells cheaply which bones the ray may hit; all balls are
// tested before the first bone, since no branch on them can be predicted.
func (b *capsules) firstGeneric(r *geom.Ray, grow float32, k *Skeleton) (bone Bone, t float32, ok bool) {
	var from [Head]float32 // how far along each is entered at the soonest
	may := uint32(0)
	for i := range from {
		bit := uint32(0)
		along, touches := b.near(r, grow, geom.Vec3{X: b.AX[i], Y: b.AY[i], Z: b.AZ[i]},
			geom.Vec3{X: b.BX[i], Y: b.BY[i], Z: b.BZ[i]}, k.radii.Bound[i])
		if touches {
			bit = 1
		}
		from[i] = along
		may |= bit << i
	}
	t = r.Max
	for ; may != 0; may &= may - 1 {
		i := bits.TrailingZeros32(may) % int(Head)
		if from[i] > t+t {
			continue
		}
		c := b.capsule(Bone(i), k)
		c.Radius += grow
		if d, hit := r.Capsule(c); hit && d <= t {
			bone, t, ok = Bone(i), d, true
		}
	}
	return bone, t, ok
}

// near reports whether r may hit the capsule from a to z, and twice how far along at the soonest;
// doubling everything makes the middle a sum.
func (b *capsules) near(r *geom.Ray, grow float32, a, z geom.Vec3, around float32) (from float32, ok bool) {
	m := a.Add(z).Sub(r.Origin.Add(r.Origin))
	around += grow
	around += around
	along := m.Dot(r.Dir)
	return along - around, m.LenSq()-float32(along*along) <= float32(around*around)
}
