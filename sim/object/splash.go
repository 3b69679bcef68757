package object

// Splash is what an explosion does: in full up to FalloffStart, then less in a straight line down to the least at Radius,
// and nothing to those no part of whom is within Radius. The zero Splash is none.
type Splash struct {
	Radius        float32 // metres, at most lagcomp.MaxSweepRadius
	FalloffStart  float32 // metres, at most Radius
	Damage        float32 // points near by
	MinDamage     float32 // points at Radius
	Impulse       float32 // m/s near by
	MinImpulse    float32 // m/s at Radius
	OwnerFraction float32 // of the damage, to whoever caused it; 0: spared altogether
}

// At is the damage, in whole points rounded half up, and the impulse in m/s at a distance from the centre, in metres.
// Beyond Radius it is the least: a body may reach in with an arm.
func (s *Splash) At(distance float32) (points int32, impulse float32) {
	return whole(s.falloff(distance, s.Damage, s.MinDamage)), s.falloff(distance, s.Impulse, s.MinImpulse)
}

func (s *Splash) falloff(distance, full, least float32) float32 {
	if distance <= s.FalloffStart {
		return full
	}
	if distance >= s.Radius {
		return least
	}
	f := (distance - s.FalloffStart) / (s.Radius - s.FalloffStart)
	return full + float32((least-full)*f)
}

// whole rounds half up; what is not a number or below 0 is 0, and nothing is above MaxPoints.
func whole(x float32) int32 {
	if !(x > 0) {
		return 0
	}
	return int32(min(x, MaxPoints) + 0.5)
}
