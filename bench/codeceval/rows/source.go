package rows

// sourceOp is a way to get a number that may help to predict a field.
type sourceOp uint8

const (
	srcTrend sourceOp = iota // how far field a moved from held frame c to held frame b
	// How much more field a moved from held frame b to the newest than from c to b.
	srcBend
	srcHeld  // field a as it was
	srcMoved // how far field a, told already, moved since
	srcFresh // field a, told already
	// How far the target is from field a, told already, in the target's scale rounded down.
	srcSame
	srcNear // the same, rounded to the nearest
	// How far the angle is from the difference of angles a and b, rounded down.
	srcApart
	// How far the angle is from the direction of the vector (a, b), b forward, rounded down.
	srcCourse
	srcCourseNear // the same, rounded to the nearest
	srcAlong      // the part of vector (a, b) along the angle c
	srcAcross     // the part across
	srcWasAlong   // srcAlong as it was
	srcWasAcross  // srcAcross as it was
	// How far field a moved lately, times the sine of how far the angle b, told already, moved
	// since.
	srcSwing
	srcSwung // the same with how far the angle moved before
	srcBow   // how far field a moved lately, times one less the cosine
	srcAge   // how far the target is from now
	srcOne   // one
	srcOps
)

// source is one such number. What a, b and c mean depends on op.
type source struct {
	op      sourceOp
	a, b, c uint8
}

// value works the source out for the field target, whose row r is under way.
func (s source) value(r *row, fields []Field, target int) int32 {
	a, b := int(s.a), int(s.b)
	switch s.op {
	case srcTrend:
		return away(r.held[b][a], r.held[s.c][a], fields[a].mod())
	case srcBend:
		mod := fields[a].mod()
		return away(away(r.held[0][a], r.held[b][a], mod), away(r.held[b][a], r.held[s.c][a], mod), mod)
	case srcHeld:
		return r.held[0][a]
	case srcMoved:
		return r.moved[a]
	case srcFresh:
		return r.fresh[a]
	case srcSame, srcNear:
		mod := fields[target].mod()
		return away(rescale(r.fresh[a], fields[a].mod(), mod, s.op == srcNear), r.held[0][target], mod)
	case srcApart:
		mod := fields[target].mod()
		x := rescale(r.fresh[a], fields[a].mod(), mod, false) - rescale(r.fresh[b], fields[b].mod(), mod, false)
		return away(x, r.held[0][target], mod)
	case srcCourse, srcCourseNear:
		mod := fields[target].Mod
		return away(course(r.fresh[a], r.fresh[b], mod, s.op == srcCourseNear), r.held[0][target], mod)
	case srcAlong, srcAcross:
		return project(r.fresh[a], r.fresh[b], units(r.fresh[s.c], fields[s.c].Mod), s.op == srcAcross)
	case srcWasAlong, srcWasAcross:
		return project(r.held[0][a], r.held[0][b], units(r.held[0][s.c], fields[s.c].Mod), s.op == srcWasAcross)
	case srcSwing, srcSwung, srcBow:
		by := r.moved[b]
		if s.op == srcSwung {
			by = away(r.held[0][b], r.held[2][b], fields[b].Mod)
		}
		return swing(away(r.held[0][a], r.held[1][a], fields[a].mod()), units(by, fields[b].Mod), s.op == srcBow)
	case srcAge:
		return r.now - r.held[0][target]
	default:
		return 1
	}
}

// units turns an angle of modulus mod into turnUnits a turn.
func units(angle, mod int32) int32 { return int32(int64(angle) * turnUnits / int64(mod)) }

func project(x, y, angle int32, across bool) int32 {
	s, c := int64(sine(angle)), int64(cosine(angle))
	if across {
		return int32((int64(x)*c - int64(y)*s) >> 14)
	}
	return int32((int64(x)*s + int64(y)*c) >> 14)
}

// course returns the direction of the vector (x, forward) in the scale of mod.
func course(x, forward, mod int32, nearest bool) int32 {
	v := int64(direction(forward, x)) * int64(mod)
	if nearest {
		v += turnUnits / 2
	}
	return int32(v >> 16)
}

// swing returns trend times the sine of an angle, or for a bow times one less its cosine.
func swing(trend, angle int32, bow bool) int32 {
	if bow {
		return int32(int64(trend) * int64(1<<14-cosine(angle)) >> 14)
	}
	return int32(int64(trend) * int64(sine(angle)) >> 14)
}

// rescale brings an angle of modulus from into the scale of modulus to; other values stay what they
// are.
func rescale(v, from, to int32, nearest bool) int32 {
	if from == to || from == 0 || to == 0 {
		return v
	}
	x := int64(v) * int64(to)
	if nearest {
		x += int64(from) / 2
	}
	return int32(x / int64(from))
}
