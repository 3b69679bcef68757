package swarm

import "github.com/tickrate/tickrate/ecs/geom"

// bearing is turns(geom.Atan2(x, z)), to the bit, in a quarter of the time: it is the hottest
// function of bots. A polynomial of the arc tangent gives the nearest Angle; where its error could
// change that, Atan2 decides.
func bearing(x, z float32) float32 {
	short, long := float64(geom.Abs(x)), float64(geom.Abs(z))
	across := short > long
	if across {
		short, long = long, short
	}
	if !(long > 1e-30 && long < 1e30) { // zero, infinite or NaN
		return turns(geom.Atan2(x, z))
	}
	q := short / long
	s := q * q
	a := q * (10430.37712 + s*(-3476.634171+s*(2082.629664+s*(-1460.596148+
		s*(1029.360006+s*(-613.616584+s*(248.039806+s*-47.560356)))))))
	if across {
		a = geom.Turn/4 - a
	}
	if z < 0 {
		a = geom.Turn/2 - a
	}
	if x < 0 {
		a = -a
	}
	a += geom.Turn + 0.5 // positive: truncation rounds to the nearest
	whole := int32(a)
	if part := a - float64(whole); part < bearingUnsure || part > 1-bearingUnsure {
		return turns(geom.Atan2(x, z))
	}
	return turns(geom.Angle(whole))
}

// bearingUnsure exceeds the polynomial's error, 0.0007, in units of geom.Angle.
const bearingUnsure = 0.004
