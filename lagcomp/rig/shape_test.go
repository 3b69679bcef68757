package rig

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// drone is a build of a user's own: a hull, a turret and a rocket.
var drone = Build{Name: "drone", Shapes: []Shape{
	{Part: PartTorso, Box: geom.AABB{Min: geom.Vec3{X: -0.6, Y: 0.1, Z: -1}, Max: geom.Vec3{X: 0.6, Y: 0.7, Z: 1}}},
	{Part: PartHead, Capsule: geom.Capsule{A: geom.Vec3{Y: 1}, B: geom.Vec3{Y: 1}, Radius: 0.35}},
	{Part: PartArms, Capsule: geom.Capsule{A: geom.Vec3{X: 0.7, Y: 0.5}, B: geom.Vec3{X: 0.7, Y: 0.5, Z: 0.8}, Radius: 0.1}},
}}

// slowShapes is the drone in the world, as distances in float64.
type slowShapes struct {
	p      *Pose
	shapes []Shape
}

func (s slowShapes) distance(shape int, x, y, z float64) float64 {
	x, y, z = x-float64(s.p.Pos.X), y-float64(s.p.Pos.Y), z-float64(s.p.Pos.Z)
	sin, cos := math.Sincos(2 * math.Pi * float64(s.p.Yaw) / 65536)
	x, z = x*cos-z*sin, x*sin+z*cos
	out := func(v float64, lo, hi float32) float64 { return max(float64(lo)-v, v-float64(hi), 0) }
	if d := &s.shapes[shape]; d.Capsule.Radius == 0 {
		b := &d.Box
		return math.Sqrt(square(out(x, b.Min.X, b.Max.X)) + square(out(y, b.Min.Y, b.Max.Y)) + square(out(z, b.Min.Z, b.Max.Z)))
	}
	c := s.shapes[shape].Capsule
	ax, ay, az := float64(c.B.X-c.A.X), float64(c.B.Y-c.A.Y), float64(c.B.Z-c.A.Z)
	mx, my, mz := x-float64(c.A.X), y-float64(c.A.Y), z-float64(c.A.Z)
	f := 0.
	if l := ax*ax + ay*ay + az*az; l > 0 {
		f = min(max((mx*ax+my*ay+mz*az)/l, 0), 1)
	}
	return max(math.Sqrt(square(mx-f*ax)+square(my-f*ay)+square(mz-f*az))-float64(c.Radius), 0)
}

func square(x float64) float64 { return x * x }

// approach is where along a ray the distance to a shape is least: it falls, and then it rises.
func (s slowShapes) approach(shape int, r *geom.Ray) (t, metres float64) {
	at := func(t float64) float64 {
		return s.distance(shape, float64(r.Origin.X)+t*float64(r.Dir.X), float64(r.Origin.Y)+t*float64(r.Dir.Y),
			float64(r.Origin.Z)+t*float64(r.Dir.Z))
	}
	lo, hi := 0., float64(r.Max)
	for range 100 {
		if a, b := lo+(hi-lo)/3, hi-(hi-lo)/3; at(a) <= at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return lo, at(lo)
}

// enter is where a sphere that flies along a ray first touches a shape, or -1.
func (s slowShapes) enter(shape int, r *geom.Ray, radius float64) float64 {
	least, metres := s.approach(shape, r)
	if metres > radius {
		return -1
	}
	cut := *r
	lo, hi := 0., least
	for range 60 {
		mid := (lo + hi) / 2
		x := cut.Origin
		if s.distance(shape, float64(x.X)+mid*float64(r.Dir.X), float64(x.Y)+mid*float64(r.Dir.Y), float64(x.Z)+mid*float64(r.Dir.Z)) <= radius {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Rays, swept spheres, points and capsules find of boxes, balls and capsules what distances in float64
// say, but for a millimetre.
func TestShapesEqualDistances(t *testing.T) {
	b, err := NewBodies(drone)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(28, 3))
	near := func(scale float32) geom.Vec3 {
		return geom.Vec3{X: scale * (rng.Float32() - 0.5), Y: scale * (rng.Float32() - 0.3), Z: scale * (rng.Float32() - 0.5)}
	}
	hits, parts := 0, map[Part]int{}
	for i := range 4_000 {
		p := Pose{ID: 1, Flags: Flags(true, 0, 0), Pos: near(200), Yaw: geom.Angle(rng.Uint32())}
		slow := slowShapes{&p, drone.Shapes}
		target := p.Pos.Add(near(3))
		r := geom.Ray{Origin: p.Pos.Add(near(30)), Max: 40}
		r.Dir = target.Sub(r.Origin).Normalize()
		grow := []float32{0, 0, 0.05, 0.4, 2}[rng.IntN(5)]
		got, ok := b.Test(r, grow, &p)
		best := -1.
		for s := range drone.Shapes {
			if at := slow.enter(s, &r, float64(grow)); at >= 0 && (best < 0 || at <= best) {
				best = at
			}
		}
		_, grazed := b.Test(r, grow+2e-3, &p)
		_, deep := b.Test(r, max(grow-2e-3, 0), &p)
		switch {
		case ok != (best >= 0):
			if best >= 0 && deep && grow > 0 || best < 0 && !grazed {
				t.Fatalf("%d: hit %v at %v, want %v", i, ok, got, best)
			}
		case ok:
			hits++
			parts[got.Part]++
			if d := math.Abs(float64(got.Distance) - best); d > 2e-3 && !(got.Distance > 0 && d < 0.15 && grow == 0) {
				t.Fatalf("%d: distance %v, want %v (grow %v)", i, got.Distance, best, grow)
			}
			if l := float64(got.Normal.Len()); math.Abs(l-1) > 1e-3 || got.Distance > 0 && got.Normal.Dot(r.Dir) > 0.05 {
				t.Fatalf("%d: normal %v along %v", i, got.Normal, r.Dir)
			}
			if drone.Shapes[got.Bone].Part != got.Part {
				t.Fatalf("%d: shape %d is %v", i, got.Bone, got.Part)
			}
		}
		least := math.Inf(1)
		line := math.Inf(1)
		for s := range drone.Shapes {
			least = min(least, slow.distance(s, float64(target.X), float64(target.Y), float64(target.Z)))
			_, d := slow.approach(s, &r)
			line = min(line, d)
		}
		if _, d := b.Nearest(target, &p); math.Abs(float64(d)-least) > 1e-3 {
			t.Fatalf("%d: nearest %v, want %v", i, d, least)
		}
		end := geom.Capsule{A: r.Origin, B: r.At(r.Max), Radius: 0.1}
		if _, d := b.NearestToCapsule(end, &p); math.Abs(float64(d)-max(line-0.1, 0)) > 2e-3 {
			t.Fatalf("%d: nearest to a capsule %v, want %v", i, d, line-0.1)
		}
		if _, along, d := b.ClosestApproach(r, &p); math.Abs(float64(d)-line) > 2e-3 || !(along >= 0 && along <= r.Max) {
			t.Fatalf("%d: approach %v at %v, want %v", i, d, along, line)
		}
		if bound := b.Bound(&p); ok && r.At(got.Distance).Sub(bound.Center).Len() > bound.Radius+grow+1e-2 {
			t.Fatalf("%d: hit %v outside the bound %v", i, r.At(got.Distance), bound)
		}
	}
	if hits < 1000 || len(parts) != 3 {
		t.Errorf("%d hits, of parts %v", hits, parts)
	}
}

func TestNewBodiesNamesWhatIsWrong(t *testing.T) {
	box := func(b geom.AABB) Build { return Build{Name: "it", Shapes: []Shape{{Box: b}}} }
	long := float32(30)
	nan := float32(math.NaN())
	for i, c := range []struct {
		builds []Build
		want   string
	}{
		{nil, "0 builds, expected 1 to 8"},
		{make([]Build, 9), "9 builds, expected 1 to 8"},
		{[]Build{drone, {Name: "it"}}, `build 1, "it": 0 shapes, expected 1 to 32, or a skeleton`},
		{[]Build{{Name: "it", Shapes: make([]Shape, 33)}}, "33 shapes"},
		{[]Build{{Name: "it", Skeleton: &Skeletons[Robot], Shapes: drone.Shapes}}, "a skeleton and 3 shapes"},
		{[]Build{{Name: "it", Skeleton: &Skeleton{}}}, "reaches 0 m"},
		{[]Build{box(geom.AABB{})}, `build 0, "it": shape 0: neither a capsule with a radius nor a box`},
		{[]Build{box(geom.AABB{Min: geom.Vec3{X: nan}, Max: geom.Vec3{X: 1, Y: 1, Z: 1}})}, "neither"},
		{[]Build{box(geom.AABB{Max: geom.Vec3{X: long, Y: 1, Z: 1}})}, "reaches 30"},
		{[]Build{{Name: "it", Shapes: []Shape{{Capsule: geom.Capsule{Radius: -1}}}}}, "capsule that is not finite"},
		{[]Build{{Name: "it", Shapes: []Shape{{Capsule: geom.Capsule{Radius: 1}, Box: geom.AABB{Max: geom.Vec3{X: 1}}}}}},
			"a capsule and a box"},
	} {
		if _, err := NewBodies(c.builds...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
	}
}

// TestBonesAreNamedByTheirBuild: a shape has its own name or its number, never that of a skeleton's
// bone; and a bone by itself is a number.
func TestBonesAreNamedByTheirBuild(t *testing.T) {
	ball := Shape{Part: PartTorso, Capsule: geom.Capsule{A: geom.Vec3{Y: 1}, B: geom.Vec3{Y: 1}, Radius: 0.3}}
	lens := ball
	lens.Name = "lens"
	b, err := NewBodies(Build{Name: "drone", Shapes: []Shape{ball, lens}}, Build{Name: "robot", Skeleton: &Skeletons[Robot]})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		build uint8
		bone  Bone
		want  string
	}{
		{0, 0, "shape 0"}, {0, 1, "lens"}, {0, 2, "shape 2"}, {1, Pelvis, "pelvis"}, {1, Head, "head"}, {1, Bones, "shape 17"},
		{2, 1, "lens"}, // beyond the table stands for the first
		{9, Head, "head"},
	} {
		if got := b.BoneName(c.build, c.bone); got != c.want {
			t.Errorf("bone %d of build %d is %q, want %q", c.bone, c.build, got, c.want)
		}
	}
	p := Pose{ID: 7, Form: FormOf(0, Stand)}
	hit, ok := b.Test(geom.Ray{Origin: geom.Vec3{Y: 1, Z: -5}, Dir: geom.Vec3{Z: 1}, Max: 9}, 0, &p)
	if said := fmt.Sprintf("%v", hit); !ok || strings.Contains(said, "pelvis") || strings.Contains(said, "spine") {
		t.Errorf("hit of a drone prints %s", said)
	}
}
