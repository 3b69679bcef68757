package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// WorldReach is half the width of the world, in metres. Players and rays beyond it on any axis hit
// nothing and are not hit; within it the broad phase is proven to lose no hit.
const WorldReach = kernel.Reach

// MaxSweepRadius is the largest radius of a sweep or of an overlap sphere, in metres.
const MaxSweepRadius = 10

// Test is the narrow-phase test of a sphere that flies along a ray against a pose of bodies in a
// table; client and server both call it. It returns the bone that is touched first and how far the centre flew until
// then; Bodies.Test decides between equally near bones. A radius of 0 is a ray. Flags and ids are
// ignored. A ray that NormalizeRay refuses, a radius outside 0 to MaxSweepRadius or a pose beyond
// WorldReach hits nothing.
func Test(b *rig.Bodies, r geom.Ray, radius float32, p *rig.Pose) (rig.Hit, bool) {
	r, ok := NormalizeRay(r)
	if !ok || !validRadius(radius) {
		return rig.Hit{}, false
	}
	return testPose(b, r, radius, p)
}

// testPose is Test for arguments that were checked.
func testPose(b *rig.Bodies, r geom.Ray, radius float32, p *rig.Pose) (rig.Hit, bool) {
	if !inWorld(p.Pos) {
		return rig.Hit{}, false
	}
	return b.Test(r, radius, p)
}

// TestSphere reports whether a sphere touches a pose of bodies in a table. NaN and poses beyond
// WorldReach touch nothing.
func TestSphere(b *rig.Bodies, ball geom.Sphere, p *rig.Pose) bool {
	bound := b.Bound(p)
	reach := bound.Radius + ball.Radius
	if !inWorld(p.Pos) || !(bound.Center.Sub(ball.Center).LenSq() <= float32(reach*reach)) {
		return false
	}
	_, metres := b.Nearest(ball.Center, p)
	return metres <= ball.Radius
}

// NormalizeRay makes a ray fit for testing: a direction whose squared length differs from 1 by
// more than 2e-6 is normalised. It reports false if the origin is beyond WorldReach, the direction
// is not finite or has no length, or Max is negative or NaN.
func NormalizeRay(r geom.Ray) (geom.Ray, bool) {
	if !inWorld(r.Origin) || !r.Dir.Finite() || !(r.Max >= 0) {
		return r, false
	}
	if geom.Abs(r.Dir.LenSq()-1) > 2e-6 {
		r.Dir = r.Dir.Normalize()
	}
	return r, geom.Abs(r.Dir.LenSq()-1) <= 2e-6
}

func validRadius(radius float32) bool { return radius >= 0 && radius <= MaxSweepRadius }

// inWorld reports whether p lies within WorldReach on each axis; NaN does not.
func inWorld(p geom.Vec3) bool {
	return geom.Abs(p.X) <= WorldReach && geom.Abs(p.Y) <= WorldReach && geom.Abs(p.Z) <= WorldReach
}
