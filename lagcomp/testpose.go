package lagcomp

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// WorldReach is half the width of the world in metres: whoever stands or shoots further out on any axis hits nobody and is hit
// by nobody. Within it the broad phase is proven.
const WorldReach = kernel.Reach

// MaxSweepRadius is the largest radius of a flying sphere or of a ball for Within, in metres.
const MaxSweepRadius = 10

// Test is the one verdict of a sphere that flies along a ray on a pose, for client and server: which of its bones it touches
// first, and how far its centre flew until then; rig.Test says what of equally near bones. A radius of 0 is a ray. It does
// not look at flags or ids. A ray of no use (see NormalizeRay), a radius outside 0 to MaxSweepRadius or a pose beyond WorldReach hits nothing.
func Test(r geom.Ray, radius float32, p *rig.Pose) (rig.Hit, bool) {
	r, ok := NormalizeRay(r)
	if !ok || !validRadius(radius) {
		return rig.Hit{}, false
	}
	return testPose(r, radius, p)
}

// testPose is Test of what has been found fit.
func testPose(r geom.Ray, radius float32, p *rig.Pose) (rig.Hit, bool) {
	if !inWorld(p.Pos) {
		return rig.Hit{}, false
	}
	return rig.Test(r, radius, p)
}

// TestSphere reports whether a ball touches a bone of p. NaN touches nothing, nor is a pose beyond WorldReach touched.
func TestSphere(ball geom.Sphere, p *rig.Pose) bool {
	bound := rig.Bound(p)
	reach := bound.Radius + ball.Radius
	if !inWorld(p.Pos) || !(bound.Center.Sub(ball.Center).LenSq() <= float32(reach*reach)) {
		return false
	}
	_, metres := rig.NearestBone(ball.Center, p)
	return metres <= ball.Radius
}

// NormalizeRay makes a ray fit for testing: a direction whose squared length is off 1 by more than 2e-6 is normalised. It reports
// false if the origin is beyond WorldReach, the direction is not finite or has no length, or Max is negative or NaN.
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

// inWorld reports whether p lies in the world; NaN does not.
func inWorld(p geom.Vec3) bool {
	return geom.Abs(p.X) <= WorldReach && geom.Abs(p.Y) <= WorldReach && geom.Abs(p.Z) <= WorldReach
}
