package rig

import (
	"errors"

	"github.com/tickrate/tickrate/ecs/geom"
)

// Shape is one rigid part of a body: a capsule, a ball (a capsule with A equal to B), or a box. Its
// place is relative to the feet of a body that faces +Z: X to its right, Y up, Z ahead.
type Shape struct {
	Name    string       // as Bodies.BoneName gives it; optional
	Part    Part         // what a hit counts as
	Capsule geom.Capsule // if its radius is above 0
	Box     geom.AABB    // if there is no capsule
}

func (s *Shape) isBox() bool { return s.Capsule.Radius == 0 }

func (s *Shape) check() error {
	c, b := &s.Capsule, &s.Box
	switch {
	case !s.isBox() && (!(c.Radius > 0) || !c.A.Finite() || !c.B.Finite()):
		return errors.New("capsule that is not finite, expected A, B and a radius of 0 or more")
	case !s.isBox() && *b != geom.AABB{}:
		return errors.New("a capsule and a box, expected one of the two")
	case s.isBox() && (!b.Min.Finite() || !b.Max.Finite() || b.Min.X >= b.Max.X || b.Min.Y >= b.Max.Y ||
		b.Min.Z >= b.Max.Z):
		return errors.New("neither a capsule with a radius nor a box with Min below Max on each axis")
	}
	return nil
}

// reach is how far the shape extends from BoundHeight above the feet.
func (s *Shape) reach() (metres float32) {
	middle := geom.Vec3{Y: BoundHeight}
	if !s.isBox() {
		return max(s.Capsule.A.Sub(middle).Len(), s.Capsule.B.Sub(middle).Len()) + s.Capsule.Radius
	}
	lo, hi := s.Box.Min.Sub(middle), middle.Sub(s.Box.Max)
	far := geom.Vec3{X: max(geom.Abs(lo.X), geom.Abs(hi.X)), Y: max(geom.Abs(lo.Y), geom.Abs(hi.Y)),
		Z: max(geom.Abs(lo.Z), geom.Abs(hi.Z))}
	return far.Len()
}

// local turns a vector of the world into one as a body with the heading sees it: X to its right, Z
// ahead.
func (h heading) local(v geom.Vec3) geom.Vec3 {
	return geom.Vec3{X: float32(v.X*h.c) - float32(v.Z*h.s), Y: v.Y, Z: float32(v.X*h.s) + float32(v.Z*h.c)}
}

// world undoes local.
func (h heading) world(v geom.Vec3) geom.Vec3 {
	turned := h.along(v.Z, v.X)
	turned.Y = v.Y
	return turned
}

// firstShape is the shape that a ray hits first, grown by some metres. The ray begins skip metres
// after the one that is asked about, and is relative to the feet.
func firstShape(shapes []Shape, r geom.Ray, grow, skip float32, yaw geom.Angle) (best Hit, ok bool) {
	h := headingOf(yaw)
	in := geom.Ray{Origin: h.local(r.Origin), Dir: h.local(r.Dir), Max: r.Max}
	first := -1
	for i := range shapes {
		if t, hit := shapes[i].ray(in, grow); hit {
			first, in.Max = i, t
		}
	}
	if first < 0 {
		return Hit{}, false
	}
	s, at := &shapes[first], in.At(in.Max)
	n := boxNormal(&s.Box, at)
	if !s.isBox() {
		n = in.Dir.Scale(-1)
		if axis := s.Capsule.B.Sub(s.Capsule.A); axis.LenSq() > 0 {
			n = normal(&s.Capsule, at, in.Dir)
		} else if out := at.Sub(s.Capsule.A).Normalize(); out != (geom.Vec3{}) {
			n = out
		}
	}
	return Hit{Bone(first), s.Part, skip + in.Max, h.world(n)}, true
}

// ray is where a ray enters the shape, grown by some metres.
func (s *Shape) ray(r geom.Ray, grow float32) (t float32, ok bool) {
	if s.isBox() {
		return rayRoundBox(r, &s.Box, grow)
	}
	c := s.Capsule
	c.Radius += grow
	return r.Capsule(c)
}

// rayRoundBox is where a ray enters a box grown by a radius: the union of the box stretched along each
// axis and of capsules along its edges.
func rayRoundBox(r geom.Ray, b *geom.AABB, radius float32) (t float32, ok bool) {
	if radius == 0 {
		return r.Box(*b)
	}
	out := geom.Vec3{X: radius, Y: radius, Z: radius}
	if _, may := r.Box(geom.AABB{Min: b.Min.Sub(out), Max: b.Max.Add(out)}); !may {
		return 0, false
	}
	nearest := func(d float32, hit bool) {
		if hit && d <= r.Max {
			t, ok, r.Max = d, true, d
		}
	}
	for _, v := range [3]geom.Vec3{{X: radius}, {Y: radius}, {Z: radius}} {
		nearest(r.Box(geom.AABB{Min: b.Min.Sub(v), Max: b.Max.Add(v)}))
	}
	x, y, z := [2]float32{b.Min.X, b.Max.X}, [2]float32{b.Min.Y, b.Max.Y}, [2]float32{b.Min.Z, b.Max.Z}
	for i := range 4 {
		j, k := i&1, i>>1
		nearest(r.Capsule(geom.Capsule{A: geom.Vec3{X: x[0], Y: y[j], Z: z[k]},
			B: geom.Vec3{X: x[1], Y: y[j], Z: z[k]}, Radius: radius}))
		nearest(r.Capsule(geom.Capsule{A: geom.Vec3{X: x[j], Y: y[0], Z: z[k]},
			B: geom.Vec3{X: x[j], Y: y[1], Z: z[k]}, Radius: radius}))
		nearest(r.Capsule(geom.Capsule{A: geom.Vec3{X: x[j], Y: y[k], Z: z[0]},
			B: geom.Vec3{X: x[j], Y: y[k], Z: z[1]}, Radius: radius}))
	}
	return t, ok
}

// boxNormal is the direction from the nearest point of a box to a point outside, or out of the face
// that a point on or in the box is nearest to.
func boxNormal(b *geom.AABB, at geom.Vec3) geom.Vec3 {
	if out := at.Sub(clampTo(b, at)); out.LenSq() > 1e-8 {
		return out.Normalize()
	}
	lo, hi := b.Min.Sub(at), at.Sub(b.Max)
	n, least := geom.Vec3{X: -1}, lo.X
	for _, f := range [5]struct {
		out float32
		n   geom.Vec3
	}{{hi.X, geom.Vec3{X: 1}}, {lo.Y, geom.Vec3{Y: -1}}, {hi.Y, geom.Vec3{Y: 1}}, {lo.Z, geom.Vec3{Z: -1}},
		{hi.Z, geom.Vec3{Z: 1}}} {
		if f.out > least {
			n, least = f.n, f.out
		}
	}
	return n
}

// clampTo is the point of a box that is nearest to a point.
func clampTo(b *geom.AABB, p geom.Vec3) geom.Vec3 { return p.Max(b.Min).Min(b.Max) }

// nearestShape is the shape whose surface is nearest to that of a capsule, as the body sees it, and
// how far, in metres; 0 where they touch.
func nearestShape(shapes []Shape, c geom.Capsule) (bone Bone, metres float32) {
	for i := range shapes {
		_, d := shapes[i].axisDistance(&c)
		if d = max(d-c.Radius, 0); i == 0 || d <= metres {
			bone, metres = Bone(i), d
		}
	}
	return bone, metres
}

// axisDistance is the distance between the axis of a capsule and the shape, in metres, and where along
// the axis, 0 to 1, it is least. It is 0 or less where they touch.
func (s *Shape) axisDistance(c *geom.Capsule) (at, metres float32) {
	axis := c.B.Sub(c.A)
	if s.isBox() {
		return segmentToBox(c.A, axis, &s.Box)
	}
	if length := axis.Len(); length > 0 {
		r := geom.Ray{Origin: c.A, Dir: axis.Scale(1 / length), Max: length}
		at, metres = rayToCapsule(&r, &s.Capsule)
		return at / length, metres - s.Capsule.Radius
	}
	return 0, AxisDistance(c, &s.Capsule) - s.Capsule.Radius
}

// rayToCapsule is rayAxisDistance for a capsule that may be a ball.
func rayToCapsule(r *geom.Ray, c *geom.Capsule) (t, metres float32) {
	if c.A != c.B {
		return rayAxisDistance(r, c)
	}
	to := c.A.Sub(r.Origin)
	t = min(max(to.Dot(r.Dir), 0), r.Max)
	return t, to.Mad(r.Dir, -t).Len()
}

// segmentToBox is the distance between the segment from a to a+d and a box, and where along it is
// least. The distance's slope never falls along the segment, so halving finds where it turns.
func segmentToBox(a, d geom.Vec3, b *geom.AABB) (t, metres float32) {
	out := func(t float32) geom.Vec3 {
		p := a.Mad(d, t)
		return p.Sub(clampTo(b, p))
	}
	lo, hi := float32(0), float32(1)
	switch {
	case out(0).Dot(d) >= 0:
		hi = 0
	case out(1).Dot(d) <= 0:
		lo = 1
	}
	for range 24 {
		if lo >= hi {
			break
		}
		if t = (lo + hi) / 2; out(t).Dot(d) < 0 {
			lo = t
		} else {
			hi = t
		}
	}
	return max(lo, hi), out(max(lo, hi)).Len()
}

// approachShapes is ClosestApproach of a ray that is relative to the feet.
func approachShapes(shapes []Shape, r *geom.Ray, yaw geom.Angle) (bone Bone, along, metres float32) {
	h := headingOf(yaw)
	from := h.local(r.Origin)
	way := geom.Capsule{A: from, B: from.Mad(h.local(r.Dir), r.Max)}
	for i := range shapes {
		at, d := shapes[i].axisDistance(&way)
		if d = max(d, 0); i == 0 || d < metres {
			bone, along, metres = Bone(i), float32(at*r.Max), d
		}
	}
	return bone, along, metres
}
