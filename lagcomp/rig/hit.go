package rig

import "github.com/tickrate/tickrate/ecs/geom"

// BoundHeight is how far above the feet the centre of every body's bounding sphere is, in metres.
// One number for all lets a broad phase over columns of feet shift the ray instead of the spheres.
const BoundHeight = 0.9

// Hit is where a ray hits a body first.
type Hit struct {
	Bone     Bone    // or the number of a shape in its build
	Part     Part    // of Bone
	Distance float32 // metres along the ray; 0 if it started inside
	// unit vector out of the bone's surface; against the ray if it started on the bone's axis
	Normal geom.Vec3
}

// normal is the direction from c's axis to point.
func normal(c *geom.Capsule, point, dir geom.Vec3) geom.Vec3 {
	axis, from := c.B.Sub(c.A), point.Sub(c.A)
	f := from.Dot(axis) / axis.LenSq()
	n := from.Mad(axis, -min(max(f, 0), 1)).Normalize()
	if n == (geom.Vec3{}) {
		return dir.Scale(-1)
	}
	return n
}
