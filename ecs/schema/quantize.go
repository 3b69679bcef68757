package schema

import "math"

// What generated code calls: one number of a component into steps of its field. Each is held to the
// twin's whole numbers by a test.

// Quantize rounds x to the nearest step, halves upwards, and clamps it to [lo, hi]. per is how many
// steps a unit has, 1 to MaxScale. Infinities clamp; NaN is taken for 0.
func Quantize(x float32, per float64, lo, hi int32) int32 {
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

// QuantizeWrapped is Quantize for a field that goes round after wrap steps. What is not a number of
// steps, NaN and the infinities, is 0.
func QuantizeWrapped(x float32, per float64, wrap int32) int32 {
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

// QuantizeInt rounds v to the nearest multiple of step, 1 to MaxStep, halves upwards, and returns
// which one it is, clamped to [lo, hi].
func QuantizeInt(v, step int64, lo, hi int32) int32 {
	const far = 1 << 62 // beyond every field, and the half step below cannot overflow
	v = min(max(v, -far), far) + step/2
	n := v / step
	if n*step > v {
		n--
	}
	return int32(min(max(n, int64(lo)), int64(hi)))
}

// QuantizeIntWrapped is QuantizeInt for a field that goes round after wrap steps.
func QuantizeIntWrapped(v, step int64, wrap int32) int32 {
	turn := step * int64(wrap)
	if v %= turn; v < 0 {
		v += turn
	}
	if n := int32((v + step/2) / step); n < wrap {
		return n
	}
	return 0
}

// WrapDelta is the difference of two values of a field that wraps, the shorter way: in [-wrap/2,
// (wrap-1)/2]. Both values lie in [0, wrap).
func WrapDelta(from, to, wrap int32) int32 {
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

// Lerp is a + (b-a)*frac/256, rounded as float32 rounds; frac = 0 gives a.
func Lerp(a, b float32, frac uint8) float32 {
	// Inlined, a and b are quotients, which compilers turn into products: the conversions keep
	// those apart from the sums.
	a, b = float32(a), float32(b)
	return a + float32((b-a)*(float32(frac)/256))
}

// LerpInt is Lerp in whole numbers, halves and all else rounded down.
func LerpInt(a, b int64, frac uint8) int64 { return a + (b-a)*int64(frac)>>8 }

// LerpWrapped is Lerp for a field that wraps, the shorter way round: a and b in steps, the result
// in units, in [0, wrap/per].
func LerpWrapped(a, b, wrap int32, per float64, frac uint8) float32 {
	turn := float32(float64(wrap) / per)
	way := float32(float64(WrapDelta(a, b, wrap)) / per)
	y := float32(float64(a)/per) + float32(way*(float32(frac)/256))
	if y < 0 {
		y += turn
	}
	if y >= turn {
		y -= turn
	}
	return y
}

// LerpIntWrapped is LerpWrapped in whole numbers: units in [0, step*wrap).
func LerpIntWrapped(a, b int32, step int64, wrap int32, frac uint8) int64 {
	v := int64(a)*step + int64(WrapDelta(a, b, wrap))*step*int64(frac)>>8
	switch turn := step * int64(wrap); {
	case v < 0:
		return v + turn
	case v >= turn:
		return v - turn
	default:
		return v
	}
}

// BoolBit is 1 for true.
func BoolBit[B ~bool](b B) int32 {
	if b {
		return 1
	}
	return 0
}

// Assign converts v to the type of dst: for types that generated code cannot name.
func Assign[
	T, V ~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32,
](dst *T, v V) {
	*dst = T(v)
}
