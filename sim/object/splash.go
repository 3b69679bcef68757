package object

// Splash is the effect of an explosion: full up to FalloffStart, then falling linearly to the
// minimum at Radius, and nothing for players with no part of the body within Radius. The zero
// Splash has no effect.
type Splash struct {
	Radius        float32 // metres, at most lagcomp.MaxSweepRadius
	FalloffStart  float32 // metres, at most Radius
	Damage        float32 // points near the centre
	MinDamage     float32 // points at Radius
	Impulse       float32 // m/s near the centre
	MinImpulse    float32 // m/s at Radius
	OwnerFraction float32 // of the damage, to its instigator; 0: none at all
}

// At is the damage, in whole points rounded half up, and the impulse in m/s at a distance from the
// centre, in metres. Beyond Radius it is the minimum: an arm may reach in.
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

// whole rounds half up; NaN and negative numbers are 0, and nothing is above MaxPoints.
func whole(x float32) int32 {
	if !(x > 0) {
		return 0
	}
	return int32(min(x, MaxPoints) + 0.5)
}
