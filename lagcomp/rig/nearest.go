package rig

import "github.com/tickrate/tickrate/ecs/geom"

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
