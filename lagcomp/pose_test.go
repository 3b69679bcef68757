package lagcomp

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"pgregory.net/rapid"
)

func drawPose(t *rapid.T, name string, reach float32) Pose {
	f := func(axis string) float32 { return rapid.Float32Range(-reach, reach).Draw(t, name+axis) }
	u := func(what string) uint16 { return rapid.Uint16().Draw(t, name+what) }
	return Pose{
		Pos: geom.Vec3{X: f(".x"), Y: f(".y"), Z: f(".z")}, Yaw: geom.Angle(u(".yaw")),
		Pitch: geom.Angle(rapid.Int16Range(-0x4000, 0x4000).Draw(t, name+".pitch")), Phase: u(".phase"), Stance: u(".stance"),
		ID: rapid.Uint32Range(1, 2).Draw(t, name+".id"), Flags: Flags(rapid.Bool().Draw(t, name+".alive"), 1, uint8(u(".life")&1)),
	}
}

func TestLerp(t *testing.T) {
	a := Pose{Pos: geom.Vec3{X: 10}, Yaw: 0xFFF0, Pitch: 0x0010, Phase: 0xFF00, ID: 3, Flags: Flags(true, 2, 5), Stance: 1}
	b := Pose{Pos: geom.Vec3{X: 14}, Yaw: 0x0010, Pitch: 0xFFF0, Phase: 0x0100, ID: 3, Flags: Flags(true, 1, 5), Stance: 2}
	half := a
	half.Pos.X, half.Yaw, half.Pitch, half.Phase = 12, 0, 0, 0 // angles cross zero, the rest is from a
	edit := func(p Pose, f func(*Pose)) Pose { f(&p); return p }
	for i, c := range []struct {
		b    Pose
		frac uint8
		want Pose
	}{
		{b, 0, a},
		{b, 128, half},
		{edit(b, func(p *Pose) { p.ID = 4 }), 128, a},
		{edit(b, func(p *Pose) { p.ID = 0 }), 128, a},
		{edit(b, func(p *Pose) { p.Flags = Flags(false, 2, 5) }), 255, a},
		{edit(b, func(p *Pose) { p.Flags = Flags(true, 2, 6) }), 255, a},
		{edit(b, func(p *Pose) { p.Flags |= 0x00F8 }), 128, half}, // the owner's bits are no edge
	} {
		if got := Lerp(a, c.b, c.frac); got != c.want {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
}

func TestLerpStaysBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, frac := drawPose(t, "a", 2000), drawPose(t, "b", 2000), rapid.Uint8().Draw(t, "frac")
		p := Lerp(a, b, frac)
		if p.ID != a.ID || p.Flags != a.Flags || p.Stance != a.Stance {
			t.Fatalf("%+v and %+v gave %+v", a, b, p)
		}
		lo, hi := a.Pos.Min(b.Pos), a.Pos.Max(b.Pos)
		const ulps = 5e-4 // of 2000 m, rounding may overshoot
		if p.Pos.X < lo.X-ulps || p.Pos.X > hi.X+ulps || p.Pos.Z < lo.Z-ulps || p.Pos.Z > hi.Z+ulps {
			t.Fatalf("%+v is not between %+v and %+v", p.Pos, a.Pos, b.Pos)
		}
		if ahead := (p.Yaw - a.Yaw).Signed(); geom.Abs(float32(ahead)) > geom.Abs(float32((b.Yaw-a.Yaw).Signed()))+1 {
			t.Fatalf("yaw %d to %d passed %d", a.Yaw, b.Yaw, p.Yaw)
		}
	})
}

func TestFlags(t *testing.T) {
	p := Pose{Flags: Flags(true, 7, 0xAB)}
	if !p.Alive() || p.Team() != 3 || p.Flags != 0xAB07 {
		t.Fatalf("%#x", p.Flags)
	}
	if p.Flags = Flags(false, 2, 0); p.Alive() || p.Team() != 2 {
		t.Fatalf("%#x", p.Flags)
	}
}

func TestPartNames(t *testing.T) {
	if None.String() != "none" || Body.String() != "body" || Head.String() != "head" || Part(9).String() != "part?" {
		t.Fatal("names of parts changed")
	}
}

func TestBoundHoldsBothShapes(t *testing.T) {
	var farthest float64
	rapid.Check(t, func(t *rapid.T) {
		p := drawPose(t, "p", 2000)
		bound := Bound(p)
		body, head := Hitboxes(p)
		for _, c := range []geom.Capsule{body, head} {
			for _, end := range []geom.Vec3{c.A, c.B} {
				far := math.Sqrt(float64(end.Sub(bound.Center).LenSq())) + float64(c.Radius)
				if farthest = max(farthest, far); far > 0.901 {
					t.Fatalf("%+v: a capsule reaches %v from the centre", p, far)
				}
			}
		}
	})
	if farthest < 0.89 {
		t.Fatalf("the bound of %v is far too wide for %v", BoundRadius, farthest)
	}
}

func TestHeadLeansWithTheView(t *testing.T) {
	p := Pose{Yaw: geom.Degrees(90)} // along +x
	_, level := Hitboxes(p)
	if level.B.X != 0 || geom.Abs(level.B.Y-1.65) > 1e-6 || geom.Abs(level.B.Y+level.Radius-1.8) > 1e-6 {
		t.Fatalf("level: %+v", level)
	}
	p.Pitch = geom.Degrees(-80)
	_, down := Hitboxes(p)
	p.Pitch = geom.Degrees(80)
	_, up := Hitboxes(p)
	if down.B.X < 0.2 || up.B.X > -0.2 || geom.Abs(down.B.Z) > 1e-6 || down.B.Y > 1.6 {
		t.Fatalf("down %+v, up %+v", down, up)
	}
}

// TestVerdictIsRightFarOut holds Test against the distance of ray and capsule axes in float64: anything closer than the
// radius by 2 mm is hit, anything further by 2 mm is not, from a metre to two kilometres away.
func TestVerdictIsRightFarOut(t *testing.T) {
	hits := 0
	c := newCrowd(11, 32, 20)
	for n := range 20000 {
		c.extent = []float32{3, 30, 300, 2000}[n%4]
		i := c.rng.IntN(len(c.poses))
		c.spawn(i)
		p := c.poses[i]
		p.Yaw, p.Pitch = geom.Angle(c.rng.IntN(65536)), geom.Angle(int16(c.rng.IntN(32769)-16384))
		body, head := Hitboxes(p)
		from := c.place()
		aim := p.Pos.Add(geom.Vec3{Y: c.between(0.1, 1.8)})
		side := aim.Sub(from).Cross(geom.Vec3{Y: 1}).Normalize()
		aim = aim.Mad(side, c.between(-0.6, 0.6))
		r := geom.Ray{Origin: from, Dir: aim.Sub(from).Normalize(), Max: 6000}
		part, dist, ok := Test(r, p)
		outBody, outHead := apart(r, body)-float64(body.Radius), apart(r, head)-float64(head.Radius)
		const band = 2e-3
		switch {
		case min(outBody, outHead) > band && ok, min(outBody, outHead) < -band && !ok:
			t.Fatalf("%+v on %+v: %v %v, but the shapes are %v and %v m off", r, p, part, ok, outBody, outHead)
		case part == Head && outHead > band, part == Body && outBody > band:
			t.Fatalf("%+v on %+v: hit the %v, which is %v / %v m off", r, p, part, outBody, outHead)
		case ok:
			hits++
			shape := body
			if part == Head {
				shape = head
			}
			at := geom.Ray{Origin: r.At(dist), Max: 0}
			if skin := apart(at, shape) - float64(shape.Radius); dist > 0 && math.Abs(skin) > 5e-3 {
				t.Fatalf("%+v on %+v: the hit at %v m is %v m from the skin", r, p, dist, skin)
			}
		}
	}
	if hits < 4000 {
		t.Fatalf("only %d hits", hits)
	}
}

// apart is the distance between a ray and a capsule's axis in float64, by ternary search over the ray: slow, and needs
// no case distinctions.
func apart(r geom.Ray, c geom.Capsule) float64 {
	toAxis := func(t float64) float64 {
		p := [3]float64{float64(r.Origin.X) + t*float64(r.Dir.X), float64(r.Origin.Y) + t*float64(r.Dir.Y), float64(r.Origin.Z) + t*float64(r.Dir.Z)}
		a, b := [3]float64{float64(c.A.X), float64(c.A.Y), float64(c.A.Z)}, [3]float64{float64(c.B.X), float64(c.B.Y), float64(c.B.Z)}
		var along, size float64
		for i := range p {
			along += (p[i] - a[i]) * (b[i] - a[i])
			size += (b[i] - a[i]) * (b[i] - a[i])
		}
		along = min(max(along/size, 0), 1)
		var sum float64
		for i := range p {
			d := p[i] - a[i] - along*(b[i]-a[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	lo, hi := 0.0, float64(r.Max)
	for range 64 {
		if m, n := lo+(hi-lo)/3, hi-(hi-lo)/3; toAxis(m) < toAxis(n) {
			hi = n
		} else {
			lo = m
		}
	}
	return toAxis((lo + hi) / 2)
}

func TestAim(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, c := range []struct {
		r  geom.Ray
		ok bool
	}{
		{geom.Ray{Dir: geom.Vec3{X: 1}, Max: 1}, true},
		{geom.Ray{Dir: geom.Vec3{X: 3, Z: 4}, Max: inf}, true},
		{geom.Ray{Dir: geom.Vec3{X: 1}}, true},
		{geom.Ray{Max: 1}, false},
		{geom.Ray{Dir: geom.Vec3{X: 1}, Max: -1}, false},
		{geom.Ray{Dir: geom.Vec3{X: 1}, Max: nan}, false},
		{geom.Ray{Dir: geom.Vec3{X: nan}, Max: 1}, false},
		{geom.Ray{Dir: geom.Vec3{X: 1e30}, Max: 1}, false},
		{geom.Ray{Dir: geom.Vec3{X: 1}, Origin: geom.Vec3{Z: inf}, Max: 1}, false},
	} {
		got, ok := Aim(c.r)
		if ok != c.ok || ok && geom.Abs(got.Dir.Len()-1) > 1e-6 {
			t.Errorf("%d: %+v %v", i, got, ok)
		}
	}
}

func TestForwardNeedsNoCorrection(t *testing.T) {
	for yaw := 0; yaw < 65536; yaw += 37 {
		for pitch := -16384; pitch <= 16384; pitch += 113 {
			r := geom.Ray{Dir: geom.Forward(geom.Angle(yaw), geom.Angle(int16(pitch))), Max: 1}
			if got, ok := Aim(r); !ok || got != r {
				t.Fatalf("yaw %d pitch %d: %v became %v", yaw, pitch, r.Dir, got.Dir)
			}
		}
	}
}
