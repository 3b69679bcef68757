package swarm

import "github.com/tickrate/tickrate/ecs/geom"

// bearing is turns(geom.Atan2(x, z)), to the bit, in a quarter of the time: bots ask for it more than for anything else. A polynomial of the arc tangent says which
// Angle is nearest, but where another is as near as the polynomial is true.
func bearing(x, z float32) float32 {
	short, long := float64(geom.Abs(x)), float64(geom.Abs(z))
	across := short > long
	if across {
		short, long = long, short
	}
	if !(long > 1e-30 && long < 1e30) { // nowhere, or nonsense
		return turns(geom.Atan2(x, z))
	}
	q := short / long
	s := q * q
	a := q * (10430.37712 + s*(-3476.634171+s*(2082.629664+s*(-1460.596148+s*(1029.360006+s*(-613.616584+s*(248.039806+s*-47.560356)))))))
	if across {
		a = geom.Turn/4 - a
	}
	if z < 0 {
		a = geom.Turn/2 - a
	}
	if x < 0 {
		a = -a
	}
	a += geom.Turn + 0.5 // above 0: cutting it off rounds it to the nearest
	whole := int32(a)
	if part := a - float64(whole); part < bearingUnsure || part > 1-bearingUnsure {
		return turns(geom.Atan2(x, z))
	}
	return turns(geom.Angle(whole))
}

// bearingUnsure is more than the polynomial is ever off by, in geom.Angle's unit: that is 0.0007.
const bearingUnsure = 0.004
