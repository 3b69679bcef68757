package rig

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Limits of a table of bodies.
const (
	MaxBuilds = 8  // kinds of bodies, as Form has three bits for them
	MaxShapes = 32 // of one build
	MaxBound  = 10 // metres, radius of a body's bounding sphere
)

// Build is what one kind of bodies is hit by: the 17 capsules of a skeleton, which the pose moves, or
// rigid shapes, which turn with Pose.Yaw.
type Build struct {
	Name     string
	Skeleton *Skeleton // nil: Shapes. It must not change afterwards
	Shapes   []Shape   // 1 to MaxShapes
}

// Bodies is a table of builds. Pose.Form names one by its number: see Form.Build. It is read-only, and
// may be used by any goroutine.
type Bodies struct {
	bounds    [MaxBuilds]float32
	skeletons [MaxBuilds]*Skeleton // nil: shapes
	shapes    [MaxBuilds][]Shape
	widest    float32
}

// HeroBodies is the builds of the match: a skeleton for each hero.
var HeroBodies = func() *Bodies {
	b, err := NewBodies(Build{Name: "terraformer", Skeleton: &Skeletons[Terraformer]},
		Build{Name: "robot", Skeleton: &Skeletons[Robot]})
	if err != nil {
		panic(err)
	}
	return b
}()

// NewBodies makes a table of 1 to MaxBuilds builds. Numbers beyond them stand for the first.
func NewBodies(builds ...Build) (*Bodies, error) {
	if len(builds) < 1 || len(builds) > MaxBuilds {
		return nil, fmt.Errorf("rig: %d builds, expected 1 to %d", len(builds), MaxBuilds)
	}
	b := &Bodies{}
	for i := range MaxBuilds {
		build := &builds[0]
		if i < len(builds) {
			build = &builds[i]
		}
		bound, err := build.bound()
		if err != nil {
			return nil, fmt.Errorf("rig: build %d, %q: %w", i, build.Name, err)
		}
		b.bounds[i], b.widest = bound, max(b.widest, bound)
		if b.skeletons[i] = build.Skeleton; build.Skeleton == nil {
			b.shapes[i] = append([]Shape(nil), build.Shapes...)
		}
	}
	return b, nil
}

// bound checks the build and returns the radius round BoundHeight that holds it.
func (b *Build) bound() (radius float32, err error) {
	switch k := b.Skeleton; {
	case k != nil && len(b.Shapes) > 0:
		return 0, fmt.Errorf("a skeleton and %d shapes, expected one of the two", len(b.Shapes))
	case k != nil:
		radius = k.Bound
	case len(b.Shapes) == 0 || len(b.Shapes) > MaxShapes:
		return 0, fmt.Errorf("%d shapes, expected 1 to %d, or a skeleton", len(b.Shapes), MaxShapes)
	}
	for i := range b.Shapes {
		if err := b.Shapes[i].check(); err != nil {
			return 0, fmt.Errorf("shape %d: %w", i, err)
		}
		radius = max(radius, b.Shapes[i].reach()+2e-3)
	}
	if !(radius > 0 && radius <= MaxBound) {
		return 0, fmt.Errorf("reaches %g m from %g m above its feet, expected more than 0 and at most %d",
			radius, BoundHeight, MaxBound)
	}
	return radius, nil
}

// Radius is the radius of the bounding sphere of a build, see Bound.
func (b *Bodies) Radius(build uint8) float32 { return b.bounds[build&(MaxBuilds-1)] }

// Widest is the largest radius of all builds.
func (b *Bodies) Widest() float32 { return b.widest }

// Bound is a sphere that holds every shape of p, whatever its parameters but Pos and the build.
func (b *Bodies) Bound(p *Pose) geom.Sphere {
	return geom.Sphere{
		Center: geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + BoundHeight, Z: p.Pos.Z},
		Radius: b.bounds[p.Form.Build()],
	}
}

// Test is the narrow-phase test of a ray against a pose: the nearest of its capsules or shapes, each
// grown by grow >= 0 metres, which makes the ray a swept sphere. Of those equally near the later one
// wins, so of a skeleton the head before all. Flags and ids are ignored. The ray's direction must be
// of unit length and Max not negative.
func (b *Bodies) Test(r geom.Ray, grow float32, p *Pose) (Hit, bool) {
	// Everything is measured from the feet, and the ray begins where it could first touch the
	// bound: the squares of kilometres have no millimetres left in float32.
	build := p.Form.Build()
	skip, ok := b.MayHit(&r, grow, p.Pos, build)
	if !ok {
		return Hit{}, false
	}
	near := geom.Ray{Origin: r.Origin.Sub(p.Pos).Mad(r.Dir, skip), Dir: r.Dir, Max: r.Max - skip}
	k := b.skeletons[build]
	if k == nil {
		return firstShape(b.shapes[build], near, grow, skip, p.Yaw)
	}
	var body capsules
	solve(p, k, &body)
	bone, t, ok := body.first(&near, grow, k)
	if !ok {
		return Hit{}, false
	}
	c := body.capsule(bone, k)
	return Hit{bone, bone.Part(), skip + t, normal(&c, near.At(t), r.Dir)}, true
}

// MayHit reports whether Test may find a hit on a body of a build at some feet, and how far along the
// ray at the soonest, in metres: Test never finds one nearer, nor any where this says no.
func (b *Bodies) MayHit(r *geom.Ray, grow float32, feet geom.Vec3, build uint8) (from float32, ok bool) {
	reach := b.bounds[build&(MaxBuilds-1)] + grow
	start := r.Origin.Sub(feet)
	middle := geom.Vec3{X: -start.X, Y: BoundHeight - start.Y, Z: -start.Z}
	along := middle.Dot(r.Dir)
	from = max(0, along-reach)
	if along < 0 { // it leads away, so it has to begin within the bound
		return 0, middle.LenSq() <= float32(reach*reach)
	}
	return from, from <= r.Max && middle.Mad(r.Dir, -along).LenSq() <= float32(reach*reach)
}

// Nearest is the bone or shape of p whose surface is nearest to a point in the world, and how far, in
// metres; 0 within it. Of those equally near the later one. Blast damage depends on it.
func (b *Bodies) Nearest(at geom.Vec3, p *Pose) (bone Bone, metres float32) {
	from, k := at.Sub(p.Pos), b.skeletons[p.Form.Build()]
	if k == nil {
		from = headingOf(p.Yaw).local(from)
		return nearestShape(b.shapes[p.Form.Build()], geom.Capsule{A: from, B: from})
	}
	var body Body
	localCapsules(p, k, &body)
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

// NearestToCapsule is the bone or shape of p whose surface is nearest to the surface of a capsule in
// the world, and how far, in metres; 0 where they touch. Of those equally near the later one. A
// capsule without length is a ball.
func (b *Bodies) NearestToCapsule(c geom.Capsule, p *Pose) (bone Bone, metres float32) {
	from := geom.Capsule{A: c.A.Sub(p.Pos), B: c.B.Sub(p.Pos), Radius: c.Radius}
	k := b.skeletons[p.Form.Build()]
	if k == nil {
		h := headingOf(p.Yaw)
		from.A, from.B = h.local(from.A), h.local(from.B)
		return nearestShape(b.shapes[p.Form.Build()], from)
	}
	var body Body
	localCapsules(p, k, &body)
	for i := range body {
		d := max(AxisDistance(&from, &body[i])-from.Radius-body[i].Radius, 0)
		if i == 0 || d <= metres {
			bone, metres = Bone(i), d
		}
	}
	return bone, metres
}
