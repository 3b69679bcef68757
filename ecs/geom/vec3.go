package geom

import "math"

// Vec3 is a point or a direction in metres. A []Vec3 is also a flat []float32 of three times the
// length; kernels rely on that layout.
type Vec3 struct{ X, Y, Z float32 }

// Add returns a + b.
func (a Vec3) Add(b Vec3) Vec3 { return Vec3{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub returns a - b.
func (a Vec3) Sub(b Vec3) Vec3 { return Vec3{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

// Scale returns a * s.
func (a Vec3) Scale(s float32) Vec3 {
	return Vec3{float32(a.X * s), float32(a.Y * s), float32(a.Z * s)}
}

// Mad returns a + b*s, each product rounded before it is added.
func (a Vec3) Mad(b Vec3, s float32) Vec3 {
	return Vec3{a.X + float32(b.X*s), a.Y + float32(b.Y*s), a.Z + float32(b.Z*s)}
}

// Dot returns the scalar product, summed in the order x, y, z.
func (a Vec3) Dot(b Vec3) float32 {
	return float32(float32(a.X*b.X)+float32(a.Y*b.Y)) + float32(a.Z*b.Z)
}

// Cross returns the vector product.
func (a Vec3) Cross(b Vec3) Vec3 {
	return Vec3{
		float32(a.Y*b.Z) - float32(a.Z*b.Y),
		float32(a.Z*b.X) - float32(a.X*b.Z),
		float32(a.X*b.Y) - float32(a.Y*b.X),
	}
}

// LenSq returns the squared length.
func (a Vec3) LenSq() float32 { return a.Dot(a) }

// Len returns the length, correctly rounded (the square root of a float32 computed in float64 is).
func (a Vec3) Len() float32 { return Sqrt(a.LenSq()) }

// Normalize returns a at length 1, or the zero vector for a vector too short to have a direction.
func (a Vec3) Normalize() Vec3 {
	n := a.Len()
	if n < 1e-12 {
		return Vec3{}
	}
	return a.Scale(1 / n)
}

// Lerp returns a + (b-a)*f; f = 0 gives exactly a.
func (a Vec3) Lerp(b Vec3, f float32) Vec3 { return a.Mad(b.Sub(a), f) }

// Min returns the smaller of each coordinate.
func (a Vec3) Min(b Vec3) Vec3 { return Vec3{min(a.X, b.X), min(a.Y, b.Y), min(a.Z, b.Z)} }

// Max returns the larger of each coordinate.
func (a Vec3) Max(b Vec3) Vec3 { return Vec3{max(a.X, b.X), max(a.Y, b.Y), max(a.Z, b.Z)} }

// Finite reports whether no coordinate is NaN or infinite.
func (a Vec3) Finite() bool {
	const top = 3.4028235e38
	return Abs(a.X) <= top && Abs(a.Y) <= top && Abs(a.Z) <= top
}

// Sqrt returns the correctly rounded square root; it is one instruction where the processor has it.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Abs returns |x|.
func Abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Bit is 1 for true, without a branch: for comparisons that no processor can predict.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
