package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// MaxSweep is the largest radius of a Sweep or of a ball for Within, in metres.
const MaxSweep = 10

// Sweep is a sphere that flies along a ray, to be judged at one instant.
type Sweep struct {
	Ray    geom.Ray // of the centre, as Aim wants it; Max where the way ends
	Radius float32  // metres, 0 to MaxSweep
	View   tick.View
	Except uint32 // ID, never hit; 0 spares nobody
	Team   uint8  // never hit; NoTeam spares nobody
}

// SweepTest is the one verdict of a flying sphere on a pose: the part it touches first, the head where both are equally
// near, and how far its centre flew until then. It is Test with both shapes grown by radius, which is the same thing; it
// does not look at flags or ids. A ray of no use (see Aim), a radius outside 0 to MaxSweep or a pose beyond Reach hits nothing.
func SweepTest(r geom.Ray, radius float32, p Pose) (Part, float32, bool) {
	r, ok := Aim(r)
	if !ok || !usable(radius) {
		return None, 0, false
	}
	return sweepTest(r, radius, p)
}

func usable(radius float32) bool { return radius >= 0 && radius <= MaxSweep }

// sweepTest moves the ray to where it could first touch, as test does and for the same reason.
func sweepTest(r geom.Ray, radius float32, p Pose) (part Part, t float32, ok bool) {
	if !within(p.Pos) {
		return None, 0, false
	}
	bound := Bound(p)
	bound.Radius += radius
	to := bound.Center.Sub(r.Origin)
	skip := max(0, to.Dot(r.Dir)-bound.Radius)
	if !(skip <= r.Max) {
		return None, 0, false
	}
	near := geom.Ray{Origin: r.At(skip), Dir: r.Dir, Max: r.Max - skip}
	body, head := Hitboxes(p)
	body.Radius += radius
	head.Radius += radius
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

// Touches reports whether a ball touches a hitbox of p. NaN touches nothing, nor is a pose beyond Reach touched.
func Touches(ball geom.Sphere, p Pose) bool {
	if !within(p.Pos) {
		return false
	}
	body, head := Hitboxes(p)
	return touches(ball, body) || touches(ball, head)
}

func touches(ball geom.Sphere, c geom.Capsule) bool {
	axis, to := c.B.Sub(c.A), ball.Center.Sub(c.A)
	f := float32(0)
	if square := axis.LenSq(); square > 0 {
		f = min(max(to.Dot(axis)/square, 0), 1)
	}
	reach := ball.Radius + c.Radius
	return to.Sub(axis.Scale(f)).LenSq() <= float32(reach*reach)
}
