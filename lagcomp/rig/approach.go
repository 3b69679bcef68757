package rig

import "github.com/tickrate/tickrate/ecs/geom"

// ClosestApproach is how near a ray passes to a pose, to tell a miss from a near miss: the bone or
// shape, metres along the ray to the nearest point, and metres between the ray and the surface, 0 if
// it is hit. The ray's direction must be of unit length and Max not negative. Test, not this, decides
// hits.
func (b *Bodies) ClosestApproach(r geom.Ray, p *Pose) (bone Bone, along, metres float32) {
	build := p.Form.Build()
	from := r.Origin.Sub(p.Pos)
	// The ray begins beside the body, as in Test.
	middle := geom.Vec3{X: -from.X, Y: BoundHeight - from.Y, Z: -from.Z}
	skip := min(max(0, middle.Dot(r.Dir)-2*b.bounds[build]), r.Max)
	near := geom.Ray{Origin: from.Mad(r.Dir, skip), Dir: r.Dir, Max: r.Max - skip}
	k := b.skeletons[build]
	if k == nil {
		near.Max = min(near.Max, 4*b.bounds[build])
		bone, t, d := approachShapes(b.shapes[build], &near, p.Yaw)
		return bone, skip + t, d
	}
	var body Body
	localCapsules(p, k, &body)
	for i := range body {
		t, d := rayAxisDistance(&near, &body[i])
		if d = max(d-body[i].Radius, 0); i == 0 || d < metres {
			bone, along, metres = Bone(i), skip+t, d
		}
	}
	return bone, along, metres
}

// rayAxisDistance is the distance between a ray, cut at its Max, and a capsule's axis, and where
// along the ray it is (Ericson, Real-Time Collision Detection, 5.1.9).
func rayAxisDistance(r *geom.Ray, c *geom.Capsule) (t, metres float32) {
	axis, from := c.B.Sub(c.A), r.Origin.Sub(c.A)
	square, slant := axis.LenSq(), axis.Dot(r.Dir)
	ahead, above := from.Dot(r.Dir), from.Dot(axis)
	// Parallel lines have no nearest point: any will do.
	if across := square - float32(slant*slant); across > 1e-6*square {
		t = min(max((float32(slant*above)-float32(ahead*square))/across, 0), r.Max)
	}
	s := (above + float32(slant*t)) / square
	if s < 0 {
		s, t = 0, -ahead
	} else if s > 1 {
		s, t = 1, slant-ahead
	}
	t = min(max(t, 0), r.Max)
	return t, from.Mad(r.Dir, t).Mad(axis, -s).Len()
}
