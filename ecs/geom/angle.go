package geom

import "math"

// Angle is a direction in 1/65536 of a turn; it wraps as angles do. Pitch uses the same type, read
// as signed: 0x4000 looks straight up, 0xC000 straight down.
type Angle uint16

// Turn is one full turn as a float, in Angle units.
const Turn = 65536

// Degrees converts degrees to the nearest Angle. NaN and infinities give 0.
func Degrees(deg float64) Angle {
	turns := deg / 360
	turns -= math.Floor(turns)
	if !(turns >= 0 && turns <= 1) {
		return 0
	}
	return Angle(uint32(math.Floor(float64(turns*Turn) + 0.5)))
}

// Degrees returns the angle in (-180, 180].
func (a Angle) Degrees() float64 { return float64(a.Signed()) * 360 / Turn }

// Signed returns the angle in [-32768, 32767].
func (a Angle) Signed() int16 { return int16(a) }

// Lerp goes from a towards b along the shorter arc, f in [0, 1]; f = 0 gives a. Halves are rounded
// down.
func (a Angle) Lerp(b Angle, f float32) Angle {
	d := float32((b - a).Signed())
	return a + Angle(int32(floor32(float32(d*f))))
}

func floor32(x float32) float32 { return float32(math.Floor(float64(x))) }

// Atan2 returns the yaw that looks along (x, z): 0 for +z, a quarter turn for +x. It uses
// math.Atan2, so it is for bots and tools, not for code whose bits must agree between machines.
func Atan2(x, z float32) Angle {
	return Degrees(math.Atan2(float64(x), float64(z)) * 180 / math.Pi)
}

// SinCos returns sine and cosine of a, within 1e-7, the same bits on every machine: a polynomial in
// float64 without fused operations, over an eighth of a turn, and exact at the quarter turns.
func (a Angle) SinCos() (sin, cos float32) {
	octant := (uint32(a) + 0x2000) >> 14 // nearest quarter turn
	x := float64(float64(int32(uint32(a)-octant<<14)) * (2 * math.Pi / Turn))
	q := float64(x * x)
	// Taylor terms up to x^11 and x^12: the remainder on |x| <= pi/4 is below 1e-12.
	s := q * -2.5052108385441720e-08
	s = float64(q * (2.7557319223985893e-06 + float64(s)))
	s = float64(q * (-1.9841269841269841e-04 + float64(s)))
	s = float64(q * (8.3333333333333333e-03 + float64(s)))
	s = float64(q * (-1.6666666666666666e-01 + float64(s)))
	s = x + float64(x*s)
	c := q * 2.0876756987868100e-09
	c = float64(q * (-2.7557319223985888e-07 + float64(c)))
	c = float64(q * (2.4801587301587302e-05 + float64(c)))
	c = float64(q * (-1.3888888888888889e-03 + float64(c)))
	c = float64(q * (4.1666666666666664e-02 + float64(c)))
	c = float64(q * (-0.5 + float64(c)))
	c = 1 + float64(c)
	// Branches on the quarter would be mispredicted, so the bits are swapped with masks. An odd
	// quarter swaps the two; the sine is negative in the second half, the cosine in the middle two
	// quarters.
	a32, b32 := math.Float32bits(float32(s)), math.Float32bits(float32(c))
	swap := (a32 ^ b32) & -(octant & 1)
	sin = math.Float32frombits(a32 ^ swap ^ octant>>1&1<<31)
	cos = math.Float32frombits(b32 ^ swap ^ (octant+1)>>1&1<<31)
	return sin, cos
}

// Forward is the unit direction of a view: yaw about +y from +z towards +x, pitch upwards.
func Forward(yaw, pitch Angle) Vec3 {
	sy, cy := yaw.SinCos()
	sp, cp := pitch.SinCos()
	return Vec3{float32(sy * cp), sp, float32(cy * cp)}
}

// octant is sine and cosine of 0 to 0x2000, an eighth of a turn: 64 KB.
var octant = func() (t [0x2001][2]float32) {
	for a := range t {
		t[a][0], t[a][1] = Angle(a).SinCos()
	}
	return t
}()

// SinCosAll is SinCos of many angles, by a table: twice as fast for more than a few. The slices
// have one length.
func SinCosAll(sin, cos []float32, angles []Angle) {
	sin, cos = sin[:len(angles)], cos[:len(angles)]
	for i, a := range angles {
		quarter := (uint32(a) + 0x2000) >> 14 // nearest quarter turn
		off := int32(uint32(a) - quarter<<14)
		sign := off >> 31
		at := &octant[min(uint32((off^sign)-sign), 0x2000)]
		s, c := math.Float32bits(at[0])^uint32(sign)&(1<<31), math.Float32bits(at[1])
		swap := (s ^ c) & -(quarter & 1) // as in SinCos
		sin[i] = math.Float32frombits(s ^ swap ^ quarter>>1&1<<31)
		cos[i] = math.Float32frombits(c ^ swap ^ (quarter+1)>>1&1<<31)
	}
}
