package geom

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Every angle's sine and cosine is within a float32's rounding of the true one, and exact at the
// quarter turns.
func TestSinCos(t *testing.T) {
	worst := 0.0
	for a := range 65536 {
		sin, cos := Angle(a).SinCos()
		s, c := math.Sincos(float64(a) * 2 * math.Pi / Turn)
		worst = max(worst, math.Abs(float64(sin)-s), math.Abs(float64(cos)-c))
	}
	if worst > 1e-7 {
		t.Errorf("off by %g", worst)
	}
	for a, want := range map[Angle][2]float32{0: {0, 1}, 0x4000: {1, 0}, 0x8000: {0, -1}, 0xC000: {-1, 0}} {
		if sin, cos := a.SinCos(); sin != want[0] || cos != want[1] {
			t.Errorf("%#x: %v, %v, want %v", a, sin, cos, want)
		}
	}
}

// The bits of all 65536 sines and cosines are pinned: prediction on another machine needs the same.
func TestSinCosBits(t *testing.T) {
	h := uint64(14695981039346656037)
	for a := range 65536 {
		sin, cos := Angle(a).SinCos()
		h = (h ^ uint64(math.Float32bits(sin))) * 1099511628211
		h = (h ^ uint64(math.Float32bits(cos))) * 1099511628211
	}
	if want := uint64(0x82fa5e24b92c219d); h != want {
		t.Errorf("hash %#x, pinned %#x", h, want)
	}
}

func TestSinCosAll(t *testing.T) {
	angles := make([]Angle, 65536)
	for a := range angles {
		angles[a] = Angle(a)
	}
	sin, cos := make([]float32, len(angles)), make([]float32, len(angles))
	SinCosAll(sin, cos, angles)
	for a := range angles {
		s, c := Angle(a).SinCos()
		if math.Float32bits(sin[a]) != math.Float32bits(s) ||
			math.Float32bits(cos[a]) != math.Float32bits(c) {
			t.Fatalf("%#x: %v, %v, want %v, %v", a, sin[a], cos[a], s, c)
		}
	}
}

func TestDegrees(t *testing.T) {
	for deg, want := range map[float64]Angle{0: 0, 90: 0x4000, -90: 0xC000, 180: 0x8000, 360: 0, 359.999: 0,
		450: 0x4000} {
		if got := Degrees(deg); got != want {
			t.Errorf("%v degrees: %#x, want %#x", deg, got, want)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := Degrees(bad); got != 0 {
			t.Errorf("%v degrees: %#x, want 0", bad, got)
		}
	}
}

func TestAngleLerpTakesTheShorterArc(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Angle(rapid.Uint16().Draw(t, "a")), Angle(rapid.Uint16().Draw(t, "b"))
		f := float32(rapid.IntRange(0, 255).Draw(t, "f")) / 256
		way, whole := int32((a.Lerp(b, f) - a).Signed()), int32((b - a).Signed())
		want := math.Floor(float64(whole) * float64(f))
		if float64(way) != want {
			t.Fatalf("from %v to %v at %v went %v, want %v of %v", a, b, f, way, want, whole)
		}
	})
}

// What a ray meets first is where a walk along it in small steps first is inside.
func TestRaysAgainstAWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	coord := func(w float32) float32 { return (r.Float32() - 0.5) * w }
	vec := func(w float32) Vec3 { return Vec3{coord(w), coord(w), coord(w)} }
	hits := 0
	for range 4000 {
		ray := Ray{Origin: vec(20), Dir: vec(2).Normalize(), Max: 30}
		if ray.Dir == (Vec3{}) {
			continue
		}
		c := Capsule{vec(8), vec(8), 0.3 + r.Float32()*2}
		lo := vec(8)
		b := AABB{lo, lo.Add(Vec3{0.5 + r.Float32()*4, 0.5 + r.Float32()*4, 0.5 + r.Float32()*4})}
		for shape, got := range map[string]func() (float32, bool){
			"capsule": func() (float32, bool) { return ray.Capsule(c) },
			"sphere":  func() (float32, bool) { return ray.Sphere(Sphere{c.A, c.Radius}) },
			"box":     func() (float32, bool) { return ray.Box(b) },
		} {
			inside := func(p Vec3) bool {
				switch shape {
				case "capsule":
					return distance(p, c.A, c.B) <= float64(c.Radius)
				case "sphere":
					return distance(p, c.A, c.A) <= float64(c.Radius)
				}
				return p.Min(b.Max) == p && p.Max(b.Min) == p
			}
			want, found := float32(0), false
			for ; want <= ray.Max && !found; want += 0.01 {
				found = inside(ray.At(want))
			}
			at, ok := got()
			if ok && (!found && !grazes(ray, at, inside) || found && at > want+0.02) ||
				!ok && found && !grazes(ray, want-0.01, inside) {
				t.Fatalf("%s: %+v: %v %v, walked to %v %v", shape, ray, at, ok, want, found)
			}
			if ok {
				hits++
				if found && at < want-0.05 && inside(ray.At(at-0.02)) && at > 0.02 {
					t.Fatalf("%s: %v is not the first", shape, at)
				}
			}
		}
	}
	if hits < 200 {
		t.Errorf("only %d hits", hits)
	}
}

// grazes reports that the ray is inside for less than a few steps near t: a walk may miss that.
func grazes(r Ray, t float32, inside func(Vec3) bool) bool {
	n := 0
	for d := float32(-0.05); d <= 0.3; d += 0.002 {
		if inside(r.At(t + d)) {
			n++
		}
	}
	return n < 100
}

func distance(p, a, b Vec3) float64 {
	ab, ap := b.Sub(a), p.Sub(a)
	f := 0.0
	if l := float64(ab.LenSq()); l > 0 {
		f = min(max(float64(ap.Dot(ab))/l, 0), 1)
	}
	return float64(ap.Sub(ab.Scale(float32(f))).Len())
}

func TestFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for v, want := range map[Vec3]bool{{1, 2, 3}: true, {0, inf, 0}: false, {-inf, 0, 0}: false} {
		if v.Finite() != want {
			t.Errorf("%v", v)
		}
	}
	if (Vec3{0, 0, nan}).Finite() {
		t.Error("NaN is finite")
	}
}
