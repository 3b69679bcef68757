package schema

import "math"

// What generated code calls: one number of a component into steps of its field. Each is held to the twin's whole
// numbers by a test.

// Steps rounds x to the nearest step, halves upwards, and clamps it to [lo, hi]. per is how many steps a unit has,
// 1 to MaxScale. Infinities clamp; NaN is taken for 0.
func Steps(x float32, per float64, lo, hi int32) int32 {
	v := math.Floor(float64(float64(x)*per) + 0.5) // the product is exact: 24 bits by 25
	switch {
	case v >= float64(hi):
		return hi
	case v > float64(lo):
		return int32(v)
	case v == v:
		return lo
	default:
		return min(max(0, lo), hi)
	}
}

// StepsRound is Steps for a field that goes round after wrap steps. What is not a number of steps, NaN and the
// infinities, is 0.
func StepsRound(x float32, per float64, wrap int32) int32 {
	v := math.Floor(float64(float64(x)*per) + 0.5)
	if !(v >= 0 && v < float64(wrap)) {
		if v = math.Mod(v, float64(wrap)); v < 0 { // exact, however far away
			v += float64(wrap)
		}
		if v != v {
			return 0
		}
	}
	return int32(v)
}

// IntSteps rounds v to the nearest multiple of step, 1 to MaxStep, halves upwards, and returns which one it is,
// clamped to [lo, hi].
func IntSteps(v, step int64, lo, hi int32) int32 {
	const far = 1 << 62 // beyond every field, and the half step below cannot overflow
	v = min(max(v, -far), far) + step/2
	n := v / step
	if n*step > v {
		n--
	}
	return int32(min(max(n, int64(lo)), int64(hi)))
}

// IntStepsRound is IntSteps for a field that goes round after wrap steps.
func IntStepsRound(v, step int64, wrap int32) int32 {
	turn := step * int64(wrap)
	if v %= turn; v < 0 {
		v += turn
	}
	if n := int32((v + step/2) / step); n < wrap {
		return n
	}
	return 0
}

// Round is the difference of two values of a field that wraps, the shorter way: in [-wrap/2, (wrap-1)/2]. Both values
// lie in [0, wrap).
func Round(from, to, wrap int32) int32 {
	d := to - from
	switch {
	case d < -(wrap / 2):
		return d + wrap
	case d > (wrap-1)/2:
		return d - wrap
	default:
		return d
	}
}

// Between is a + (b-a)*frac/256, rounded as float32 rounds; frac = 0 gives a.
func Between(a, b float32, frac uint8) float32 {
	// Inlined, a and b are quotients, which compilers turn into products: the conversions keep those apart from the sums.
	a, b = float32(a), float32(b)
	return a + float32((b-a)*(float32(frac)/256))
}

// IntBetween is Between in whole numbers, halves and all else rounded down.
func IntBetween(a, b int64, frac uint8) int64 { return a + (b-a)*int64(frac)>>8 }

// BetweenRound is Between for a field that wraps, the shorter way round: a and b in steps, the result in units, in
// [0, wrap/per].
func BetweenRound(a, b, wrap int32, per float64, frac uint8) float32 {
	turn := float32(float64(wrap) / per)
	way := float32(float64(Round(a, b, wrap)) / per)
	y := float32(float64(a)/per) + float32(way*(float32(frac)/256))
	if y < 0 {
		y += turn
	}
	if y >= turn {
		y -= turn
	}
	return y
}

// IntBetweenRound is BetweenRound in whole numbers: units in [0, step*wrap).
func IntBetweenRound(a, b int32, step int64, wrap int32, frac uint8) int64 {
	v := int64(a)*step + int64(Round(a, b, wrap))*step*int64(frac)>>8
	switch turn := step * int64(wrap); {
	case v < 0:
		return v + turn
	case v >= turn:
		return v - turn
	default:
		return v
	}
}

// Bit is 1 for true.
func Bit[B ~bool](b B) int32 {
	if b {
		return 1
	}
	return 0
}

// Put converts v to the type of dst: for types whose names generated code does not know.
func Put[T, V ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32](dst *T, v V) {
	*dst = T(v)
}
