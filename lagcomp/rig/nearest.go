package rig

import "github.com/tickrate/tickrate/ecs/geom"

// NearestBoneToCapsule is the bone of p whose surface is nearest to the surface of a capsule in
// the world, and how far, in metres; 0 where they touch. Of bones equally near the later one. A
// capsule without length is a ball.
func NearestBoneToCapsule(c geom.Capsule, p *Pose) (bone Bone, metres float32) {
	var body Body
	LocalCapsules(p, &body)
	from := geom.Capsule{A: c.A.Sub(p.Pos), B: c.B.Sub(p.Pos), Radius: c.Radius}
	for i := range body {
		d := max(AxisDistance(&from, &body[i])-from.Radius-body[i].Radius, 0)
		if i == 0 || d <= metres {
			bone, metres = Bone(i), d
		}
	}
	return bone, metres
}

// AxisDistance is the distance between the axes of two capsules, in metres (Ericson, Real-Time
// Collision Detection, 5.1.9).
func AxisDistance(a, b *geom.Capsule) float32 {
	u, v, w := a.B.Sub(a.A), b.B.Sub(b.A), a.A.Sub(b.A)
	uu, vv, uv, uw, vw := u.LenSq(), v.LenSq(), u.Dot(v), u.Dot(w), v.Dot(w)
	var s, t float32 // of u and v
	switch {
	case uu <= 1e-12 && vv <= 1e-12:
		return w.Len()
	case uu <= 1e-12:
		t = unitRange(vw / vv)
	case vv <= 1e-12:
		s = unitRange(-uw / uu)
	default:
		// Of parallel axes any point is nearest.
		if across := float32(uu*vv) - float32(uv*uv); across > 1e-6*float32(uu*vv) {
			s = unitRange((float32(uv*vw) - float32(vv*uw)) / across)
		}
		t = (float32(uv*s) + vw) / vv
		if t < 0 {
			t, s = 0, unitRange(-uw/uu)
		} else if t > 1 {
			t, s = 1, unitRange((uv-uw)/uu)
		}
	}
	return w.Mad(u, s).Mad(v, -t).Len()
}

func unitRange(x float32) float32 { return min(max(x, 0), 1) }
