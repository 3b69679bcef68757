package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// slowTest is the naive Test in float64: every capsule in the world, without a bound.
func slowTest(r geom.Ray, grow float32, p *Pose) (best Hit, ok bool) {
	var body Body
	Capsules(p, &body)
	for i, c := range body {
		t := enter(r, c, float64(c.Radius)+float64(grow))
		if t <= float64(r.Max) && (!ok || t <= float64(best.Distance)) {
			best, ok = Hit{Bone: Bone(i), Part: Bone(i).Part(), Distance: float32(t)}, true
		}
	}
	return best, ok
}

// enter is how far along r a capsule of the given radius round c's axis begins, or infinity: the
// least of where it enters both balls and the tube between them.
func enter(r geom.Ray, c geom.Capsule, radius float64) float64 {
	if distance(r.Origin, c)+float64(c.Radius) <= radius {
		return 0
	}
	wide := func(v geom.Vec3) [3]float64 { return [3]float64{float64(v.X), float64(v.Y), float64(v.Z)} }
	dot := func(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
	minus := func(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
	o, d, a, b := wide(r.Origin), wide(r.Dir), wide(c.A), wide(c.B)
	best := math.Inf(1)
	root := func(a, b, k float64) float64 { // the first of a t^2 + 2 b t + k = 0, if not negative
		if t := (-b - math.Sqrt(b*b-a*k)) / a; t >= 0 {
			return t
		}
		return math.Inf(1)
	}
	for _, end := range [][3]float64{a, b} {
		m := minus(o, end)
		if t := root(dot(d, d), dot(m, d), dot(m, m)-radius*radius); t < best {
			best = t
		}
	}
	axis, m := minus(b, a), minus(o, a)
	square := dot(axis, axis)
	along, from := dot(axis, d)/square, dot(axis, m)/square
	for i := range 3 { // what is across the axis
		d[i] -= along * axis[i]
		m[i] -= from * axis[i]
	}
	if t := root(dot(d, d), dot(m, d), dot(m, m)-radius*radius); t < best && from+t*along >= 0 &&
		from+t*along <= 1 {
		best = t
	}
	return best
}

// shotAt is a ray from anywhere near that passes near p.
func shotAt(r *rand.Rand, p *Pose) geom.Ray {
	coord := func(w float32) float32 { return (r.Float32() - 0.5) * w }
	vec := func(w float32) geom.Vec3 { return geom.Vec3{X: coord(w), Y: coord(w), Z: coord(w)} }
	at := p.Pos.Add(geom.Vec3{X: coord(1.2), Y: r.Float32() * 2, Z: coord(1.2)})
	for {
		from := p.Pos.Add(vec(40))
		if r.IntN(8) == 0 {
			from = p.Pos.Add(vec(3))
		}
		if d := at.Sub(from).Normalize(); d != (geom.Vec3{}) {
			return geom.Ray{Origin: from, Dir: d.Scale(1 / d.Len()), Max: r.Float32() * 60}
		}
	}
}

// Test agrees with the twin that asks every capsule in the world, up to rounding: the distance, and
// the bone unless two are equally near.
func TestAgreesWithItsSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	hits, split := 0, 0
	for i := range 200_000 {
		p := random(r, Hero(i%2))
		p.Pos = geom.Vec3{X: float32(r.IntN(4096)-2048) / 128, Z: float32(r.IntN(4096)-2048) / 128}
		ray, grow := shotAt(r, &p), float32(0)
		if i%4 == 0 {
			grow = 0.2
		}
		got, ok := HeroBodies.Test(ray, grow, &p)
		want, hit := slowTest(ray, grow, &p)
		if ok != hit || ok && math.Abs(float64(got.Distance-want.Distance)) > 2e-3 {
			if !grazing(ray, grow, &p) {
				t.Fatalf("%v %+v, want %v %+v: %+v %v %+v", ok, got, hit, want, ray, grow, p)
			}
			split++
			continue
		}
		if !ok {
			continue
		}
		hits++
		if got.Part != got.Bone.Part() || geom.Abs(got.Normal.LenSq()-1) > 1e-5 {
			t.Fatalf("%+v", got)
		}
		// The point lies on the bone named, or within it at the start.
		var body Body
		Capsules(&p, &body)
		c := body[got.Bone]
		c.Radius += grow
		if d := distance(ray.At(got.Distance), c); d > 1e-3 || got.Distance > 0 && d < -1e-3 {
			t.Fatalf("%v m off %v: %+v %+v", d, got.Bone, ray, p)
		}
		if got.Distance > 0 && got.Normal.Dot(ray.Dir) > 1e-2 {
			t.Fatalf("normal %v along the ray %v", got.Normal, ray.Dir)
		}
	}
	if hits < 50_000 || split > hits/500 {
		t.Errorf("%d hits, %d undecided by rounding", hits, split)
	}
}

// grazing reports that the verdict changes with a millimetre of thickness or of length.
func grazing(r geom.Ray, grow float32, p *Pose) bool {
	thin, okThin := slowTest(r, grow-1e-3, p)
	thick, okThick := slowTest(r, grow+1e-3, p)
	longer := r
	longer.Max += 1e-3
	_, okLonger := slowTest(longer, grow, p)
	return okThin != okThick || okLonger != okThin || thin.Distance-thick.Distance > 2e-3
}

// A head shot, a body shot, a leg shot and one between the legs.
func TestWhatIsHit(t *testing.T) {
	for _, c := range []struct {
		hero Hero
		x, y float32
		want Bone
		hit  bool
	}{
		{Terraformer, 0, 1.65, Head, true},
		{Terraformer, 0, 1.25, Chest, true},
		{Terraformer, -0.11, 0.7, ThighL, true}, // yaw 0 looks along +z, so its right is +x
		{Terraformer, 0.13, 0.3, ShinR, true},
		{Terraformer, 0, 0.3, 0, false},
		{Terraformer, 0, 1.81, 0, false},
		{Robot, 0, 2.1, Head, true},
		{Robot, 0, 1.5, Chest, true},
	} {
		p := Pose{Form: FormOf(c.hero, Stand), Pos: geom.Vec3{X: 100, Y: 3, Z: -50}}
		ray := geom.Ray{Origin: p.Pos.Add(geom.Vec3{X: c.x, Y: c.y, Z: -30}), Dir: geom.Vec3{Z: 1}, Max: 100}
		hit, ok := HeroBodies.Test(ray, 0, &p)
		if ok != c.hit || hit.Bone != c.want {
			t.Errorf("%v at (%v, %v): %v %v, want %v %v", c.hero, c.x, c.y, hit.Bone, ok, c.want, c.hit)
		}
		if ok && (hit.Distance < 29 || hit.Distance > 30.1) {
			t.Errorf("%v at (%v, %v): %v m", c.hero, c.x, c.y, hit.Distance)
		}
	}
}

func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 50_000 {
		p := random(r, Hero(i%2))
		p.Pos = geom.Vec3{X: float32(r.IntN(4096)-2048) / 128, Y: 3}
		at := p.Pos.Add(geom.Vec3{X: r.Float32()*4 - 2, Y: r.Float32() * 3, Z: r.Float32()*4 - 2})
		var body Body
		Capsules(&p, &body)
		want := math.Inf(1)
		for _, c := range body {
			want = min(want, max(distance(at, c), 0))
		}
		bone, got := HeroBodies.Nearest(at, &p)
		if math.Abs(float64(got)-want) > 1e-5 || max(distance(at, body[bone]), 0) > want+1e-5 {
			t.Fatalf("%v at %v m, want %v m: %v %+v", bone, got, want, at, p)
		}
	}
}

// Invalid rays (not finite, zero length) hit nothing.
func TestUselessRays(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	p := Pose{}
	for _, r := range []geom.Ray{
		{Origin: geom.Vec3{X: nan, Y: 1}, Dir: geom.Vec3{Z: 1}, Max: 10},
		{Origin: geom.Vec3{Y: 1, Z: -5}, Dir: geom.Vec3{Z: nan}, Max: 10},
		{Origin: geom.Vec3{Y: 1, Z: -5}, Dir: geom.Vec3{Z: 1}, Max: nan},
		{Origin: geom.Vec3{Y: 1, Z: -inf}, Dir: geom.Vec3{Z: 1}, Max: 10},
		{Origin: geom.Vec3{Y: 1, Z: -5}, Dir: geom.Vec3{Z: 1}, Max: -1},
	} {
		if hit, ok := HeroBodies.Test(r, 0, &p); ok {
			t.Errorf("%+v hits %+v", r, hit)
		}
	}
}

// The size of a target as a ray sees it, compared with one capsule of 0.4 m up to 1.4 m and a head.
// It is pinned loosely, because balance depends on it.
func TestSilhouettes(t *testing.T) {
	area := func(hit func(geom.Ray) bool) float64 {
		n := 0
		for x := float32(-1); x < 1; x += 0.02 {
			for y := float32(0); y < 2.4; y += 0.02 {
				if hit(geom.Ray{Origin: geom.Vec3{X: x, Y: y, Z: -10}, Dir: geom.Vec3{Z: 1}, Max: 20}) {
					n++
				}
			}
		}
		return float64(n) * 0.02 * 0.02
	}
	old := area(func(r geom.Ray) bool {
		_, body := r.Capsule(geom.Capsule{A: geom.Vec3{Y: 0.4}, B: geom.Vec3{Y: 1}, Radius: 0.4})
		_, head := r.Capsule(geom.Capsule{A: geom.Vec3{Y: 1.5}, B: geom.Vec3{Y: 1.65}, Radius: 0.15})
		return body || head
	})
	for _, c := range []struct {
		name   string
		pose   Pose
		lo, hi [Heroes]float64 // of the old body's area
	}{
		{"front, standing", Pose{Aim: 255}, [Heroes]float64{0.5, 0.9}, [Heroes]float64{0.65, 1.05}},
		{"side, standing", Pose{Aim: 255, Yaw: 0x4000}, [Heroes]float64{0.4, 0.7},
			[Heroes]float64{0.55, 0.85}},
		{"front, running", Pose{Aim: 255, Gait: 191, Phase: 0x3000}, [Heroes]float64{0.5, 0.85},
			[Heroes]float64{0.65, 1.05}},
		{"side, running", Pose{Aim: 255, Gait: 191, Phase: 0x3000, Yaw: 0x4000}, [Heroes]float64{0.5, 0.9},
			[Heroes]float64{0.7, 1.1}},
	} {
		for h := range Heroes {
			c.pose.Form = FormOf(h, Run)
			ratio := func(grow float32) float64 {
				return area(func(r geom.Ray) bool { _, ok := HeroBodies.Test(r, grow, &c.pose); return ok }) / old
			}
			thin := ratio(0)
			t.Logf("%v %s: %.2f of the old, %.2f for rays 0.1 m thick, %.2f for FPSSample's 0.2 m", h,
				c.name, thin, ratio(0.1), ratio(0.2))
			if thin < c.lo[h] || thin > c.hi[h] {
				t.Errorf("%v %s: %.2f of the old silhouette, want %v to %v", h, c.name, thin, c.lo[h],
					c.hi[h])
			}
		}
	}
}
