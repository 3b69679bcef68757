package rig

import "github.com/tickrate/tickrate/ecs/geom"

// BoundHeight is how far above the feet the centre of every hero's bounding sphere is, in metres.
// One number for all lets a broad phase over columns of feet shift the ray instead of the spheres.
const BoundHeight = 0.9

// Bound is a sphere that holds every capsule of p, whatever its parameters but Pos and the hero.
func Bound(p *Pose) geom.Sphere {
	return geom.Sphere{
		Center: geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + BoundHeight, Z: p.Pos.Z},
		Radius: Skeletons[p.Form.Hero()].Bound,
	}
}

// Hit is where a ray hits a body first.
type Hit struct {
	Bone     Bone
	Part     Part    // of Bone
	Distance float32 // metres along the ray; 0 if it started inside
	// unit vector out of the bone's surface; against the ray if it started on the bone's axis
	Normal geom.Vec3
}

// Test is the narrow-phase test of a ray against a pose: the nearest of its 17 capsules, each
// grown by grow >= 0 metres, which makes the ray a swept sphere. Of capsules equally near the
// later bone wins, so the head before all. Flags and ids are ignored. The ray's direction must be
// of unit length and Max not negative.
func Test(r geom.Ray, grow float32, p *Pose) (Hit, bool) {
	// Everything is measured from the feet, and the ray begins where it could first touch the
	// bound: the squares of kilometres have no millimetres left in float32.
	skip, ok := MayHit(&r, grow, p.Pos, p.Form.Hero())
	if !ok {
		return Hit{}, false
	}
	near := geom.Ray{Origin: r.Origin.Sub(p.Pos).Mad(r.Dir, skip), Dir: r.Dir, Max: r.Max - skip}
	k := &Skeletons[p.Form.Hero()]
	var body capsules
	solve(p, &body)
	bone, t, ok := body.first(&near, grow, k)
	if !ok {
		return Hit{}, false
	}
	c := body.capsule(bone, k)
	return Hit{bone, bone.Part(), skip + t, normal(&c, near.At(t), r.Dir)}, true
}

// MayHit reports whether Test may find a hit on a player of a build at some feet, and how far
// along the ray at the soonest, in metres: Test never finds one nearer, nor any where this says
// no.
func MayHit(r *geom.Ray, grow float32, feet geom.Vec3, hero Hero) (from float32, ok bool) {
	reach := Skeletons[hero].Bound + grow
	start := r.Origin.Sub(feet)
	middle := geom.Vec3{X: -start.X, Y: BoundHeight - start.Y, Z: -start.Z}
	along := middle.Dot(r.Dir)
	from = max(0, along-reach)
	if along < 0 { // it leads away, so it has to begin within the bound
		return 0, middle.LenSq() <= float32(reach*reach)
	}
	return from, from <= r.Max && middle.Mad(r.Dir, -along).LenSq() <= float32(reach*reach)
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

// NearestBone is the bone of p whose surface is nearest to a point in the world, and how far, in
// metres; 0 within it. Of bones equally near the later one. Blast damage depends on it.
func NearestBone(at geom.Vec3, p *Pose) (bone Bone, metres float32) {
	var body Body
	LocalCapsules(p, &body)
	from := at.Sub(p.Pos)
	for i := range body {
		c := &body[i]
		axis, m := c.B.Sub(c.A), from.Sub(c.A)
		f := min(max(m.Dot(axis)/axis.LenSq(), 0), 1)
		d := max(m.Mad(axis, -f).Len()-c.Radius, 0)
		if i == 0 || d <= metres {
			bone, metres = Bone(i), d
		}
	}
	return bone, metres
}
