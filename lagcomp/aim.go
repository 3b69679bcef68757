package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// Reach is half the width of the world in metres: whoever stands or shoots further out on any axis hits nobody and is hit
// by nobody. Within it the broad phase is proven.
const Reach = kernel.Reach

// Test is the one verdict of a ray on a pose, for client and server: the nearer of body and head, the head where they
// are equally near, and the distance in metres. It does not look at flags or ids. A ray of no use (see Aim) hits nothing,
// nor is a pose beyond Reach hit.
func Test(r geom.Ray, p Pose) (Part, float32, bool) {
	r, ok := Aim(r)
	if !ok {
		return None, 0, false
	}
	return test(r, p)
}

// Aim makes a ray fit for testing: a direction whose squared length is off 1 by more than 2e-6 is normalised. It reports
// false if the origin is beyond Reach, the direction is not finite or has no length, or Max is negative or NaN.
func Aim(r geom.Ray) (geom.Ray, bool) {
	if !within(r.Origin) || !r.Dir.Finite() || !(r.Max >= 0) {
		return r, false
	}
	if geom.Abs(r.Dir.LenSq()-1) > 2e-6 {
		r.Dir = r.Dir.Normalize()
	}
	return r, geom.Abs(r.Dir.LenSq()-1) <= 2e-6
}

// test moves the ray to where it could first touch the bound before it computes with squares, so that a target two
// kilometres away is judged as finely as one at hand.
func test(r geom.Ray, p Pose) (part Part, t float32, ok bool) {
	if !within(p.Pos) {
		return None, 0, false
	}
	skip := max(0, Bound(p).Center.Sub(r.Origin).Dot(r.Dir)-BoundRadius)
	if !(skip <= r.Max) {
		return None, 0, false
	}
	near := geom.Ray{Origin: r.At(skip), Dir: r.Dir, Max: r.Max - skip}
	body, head := Hitboxes(p)
	if d, hit := near.Capsule(body); hit {
		part, t = Body, d
	}
	if d, hit := near.Capsule(head); hit && (part == None || d <= t) {
		part, t = Head, d
	}
	if part == None {
		return None, 0, false
	}
	return part, skip + t, true
}

// within reports whether p lies in the world; NaN does not.
func within(p geom.Vec3) bool {
	return geom.Abs(p.X) <= Reach && geom.Abs(p.Y) <= Reach && geom.Abs(p.Z) <= Reach
}
