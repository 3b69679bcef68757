package arena

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Shape says what of its bounding box a Solid fills.
type Shape uint8

// The shapes. A ramp is the lower half of its box, cut by a plane that rises from the bottom edge
// at one side to the top edge at the other; it is named for the direction in which it rises.
const (
	Box Shape = iota
	RampPosX
	RampNegX
	RampPosZ
	RampNegZ
	shapes // how many there are
)

// String returns the shape's name in map files: "box", "+x", "-x", "+z", "-z".
func (s Shape) String() string {
	if s < shapes {
		return [shapes]string{"box", "+x", "-x", "+z", "-z"}[s]
	}
	return "?"
}

// Solid is a box or a ramp. Min < Max in each coordinate. It is 32 bytes, two to a cache line.
type Solid struct {
	Min, Max geom.Vec3
	Grade    float32 // rise over run of a ramp, 0 for a box
	Shape    Shape
	Pass     uint8 // bit t: bodies of team t pass; any bit: rays pass too. Usually 0
}

var _ [32]byte = [unsafe.Sizeof(Solid{})]byte{}

// PassTeam is the bit of a team in Solid.Pass; 0, which passes nothing, for teams that cannot have
// areas.
func PassTeam(team uint8) uint8 {
	if team >= Teams {
		return 0
	}
	return 1 << team
}

// NewArea returns the area of a team: a box that stops only the bodies of other teams.
func NewArea(team uint8, lo, hi geom.Vec3) Solid {
	return Solid{Min: lo, Max: hi, Pass: PassTeam(team)}
}

// NewSolid returns the solid that fills shape's part of [lo, hi].
func NewSolid(shape Shape, lo, hi geom.Vec3) Solid {
	s := Solid{Min: lo, Max: hi, Shape: shape}
	switch shape {
	case RampPosX, RampNegX:
		s.Grade = (hi.Y - lo.Y) / (hi.X - lo.X)
	case RampPosZ, RampNegZ:
		s.Grade = (hi.Y - lo.Y) / (hi.Z - lo.Z)
	}
	return s
}

// class orders solids: boxes 0, ramps 1, team areas 2.
func (s *Solid) class() int {
	if s.Pass != 0 {
		return 2
	}
	return int(min(s.Shape, 1))
}

// Bounds is the box round the solid.
func (s *Solid) Bounds() geom.AABB { return geom.AABB{Min: s.Min, Max: s.Max} }

// beam is a ray prepared for many slab tests.
type beam struct {
	origin, dir, inv geom.Vec3
	max              float32
}

// tinyDirection replaces a zero component of a direction: its reciprocal is finite, so that no slab
// test can meet 0 * Inf.
const tinyDirection = 1e-30

// newBeam takes the reciprocals of a ray's direction once for all slab tests.
func newBeam(r geom.Ray) beam {
	return beam{r.Origin, r.Dir, geom.Vec3{X: inverse(r.Dir.X), Y: inverse(r.Dir.Y), Z: inverse(r.Dir.Z)},
		r.Max}
}

// inverse is 1/d, finite for a component near 0 (see tinyDirection).
func inverse(d float32) float32 {
	if geom.Abs(d) < tinyDirection {
		return 1 / float32(tinyDirection)
	}
	return 1 / d
}

// enter returns the distance at which b enters s, 0 if it starts inside, and whether that is at
// most b.max.
func (s *Solid) enter(b *beam) (float32, bool) {
	near, far := float32(0), b.max
	t0, t1 := float32((s.Min.X-b.origin.X)*b.inv.X), float32((s.Max.X-b.origin.X)*b.inv.X)
	if t0 > t1 {
		t0, t1 = t1, t0
	}
	if t0 > near {
		near = t0
	}
	if t1 < far {
		far = t1
	}
	t0, t1 = float32((s.Min.Z-b.origin.Z)*b.inv.Z), float32((s.Max.Z-b.origin.Z)*b.inv.Z)
	if t0 > t1 {
		t0, t1 = t1, t0
	}
	if t0 > near {
		near = t0
	}
	if t1 < far {
		far = t1
	}
	if near > far {
		return 0, false
	}
	t0, t1 = float32((s.Min.Y-b.origin.Y)*b.inv.Y), float32((s.Max.Y-b.origin.Y)*b.inv.Y)
	if t0 > t1 {
		t0, t1 = t1, t0
	}
	if t0 > near {
		near = t0
	}
	if t1 < far {
		far = t1
	}
	if s.Shape != Box {
		near, far = s.clip(b, near, far)
	}
	return near, near <= far
}

// clip narrows [near, far] to the part of b below the ramp's plane: above + t*climb <= 0.
func (s *Solid) clip(b *beam, near, far float32) (float32, float32) {
	var run, du float32
	switch s.Shape {
	case RampPosX:
		run, du = b.origin.X-s.Min.X, b.dir.X
	case RampNegX:
		run, du = s.Max.X-b.origin.X, -b.dir.X
	case RampPosZ:
		run, du = b.origin.Z-s.Min.Z, b.dir.Z
	case RampNegZ:
		run, du = s.Max.Z-b.origin.Z, -b.dir.Z
	}
	above := (b.origin.Y - s.Min.Y) - float32(run*s.Grade)
	climb := b.dir.Y - float32(du*s.Grade)
	switch {
	case climb > tinyDirection:
		far = min(far, -above/climb)
	case climb < -tinyDirection:
		near = max(near, -above/climb)
	case above > 0:
		far = -1
	}
	return near, far
}
