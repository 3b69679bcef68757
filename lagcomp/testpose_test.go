package lagcomp

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// TestVerdictIsRightFarOut compares Test with the float64 distance between the ray and the axes of
// all bones: a pose 2 mm within a bone's radius is hit, a pose 2 mm outside all radii is not, from
// a metre to two kilometres away.
func TestVerdictIsRightFarOut(t *testing.T) {
	hits := 0
	c := newCrowd(11, 32, 20)
	for n := range 4000 {
		c.extent = []float32{3, 30, 300, 2000}[n%4]
		i := c.rng.IntN(len(c.poses))
		c.spawn(i)
		p := c.poses[i]
		p.Yaw, p.Pitch = geom.Angle(c.rng.IntN(65536)), geom.Angle(int16(c.rng.IntN(32769)-16384))
		from := c.place()
		aim := p.Pos.Add(geom.Vec3{Y: c.between(0.1, 1.8)})
		side := aim.Sub(from).Cross(geom.Vec3{Y: 1}).Normalize()
		aim = aim.Mad(side, c.between(-0.6, 0.6))
		r := geom.Ray{Origin: from, Dir: aim.Sub(from).Normalize(), Max: 6000}
		hit, ok := Test(rig.HeroBodies, r, 0, &p)
		var body rig.Body
		rig.Capsules(&p, &body)
		out := math.Inf(1)
		for _, bone := range body {
			out = min(out, apart(r, bone)-float64(bone.Radius))
		}
		const band = 2e-3
		switch {
		case out > band && ok, out < -band && !ok:
			t.Fatalf("%+v on %+v: %v %v, but the bones are %v m off", r, p, hit.Bone, ok, out)
		case ok:
			hits++
			at := geom.Ray{Origin: r.At(hit.Distance), Max: 0}
			if skin := apart(at, body[hit.Bone]) - float64(body[hit.Bone].Radius); hit.Distance > 0 &&
				math.Abs(skin) > 5e-3 {
				t.Fatalf("%+v on %+v: the hit at %v m is %v m from the skin", r, p, hit.Distance, skin)
			}
		}
	}
	if hits < 700 {
		t.Fatalf("only %d hits", hits)
	}
}

// apart is the distance between a ray and a capsule's axis in float64, by ternary search over the
// ray: slow, and needs no case distinctions.
func apart(r geom.Ray, c geom.Capsule) float64 {
	toAxis := func(t float64) float64 {
		p := [3]float64{float64(r.Origin.X) + t*float64(r.Dir.X), float64(r.Origin.Y) + t*float64(r.Dir.Y),
			float64(r.Origin.Z) + t*float64(r.Dir.Z)}
		a, b := [3]float64{float64(c.A.X), float64(c.A.Y), float64(c.A.Z)}, [3]float64{float64(c.B.X),
			float64(c.B.Y), float64(c.B.Z)}
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
		got, ok := NormalizeRay(c.r)
		if ok != c.ok || ok && geom.Abs(got.Dir.Len()-1) > 1e-6 {
			t.Errorf("%d: %+v %v", i, got, ok)
		}
	}
}

func TestForwardNeedsNoCorrection(t *testing.T) {
	for yaw := 0; yaw < 65536; yaw += 37 {
		for pitch := -16384; pitch <= 16384; pitch += 113 {
			r := geom.Ray{Dir: geom.Forward(geom.Angle(yaw), geom.Angle(int16(pitch))), Max: 1}
			if got, ok := NormalizeRay(r); !ok || got != r {
				t.Fatalf("yaw %d pitch %d: %v became %v", yaw, pitch, r.Dir, got.Dir)
			}
		}
	}
}
