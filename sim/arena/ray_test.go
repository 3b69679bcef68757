package arena

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// slowRaycast is the honest twin of Raycast: every solid, one after the other.
func slowRaycast(a *Arena, r geom.Ray) (float32, bool) {
	b := newBeam(r)
	best, ok := r.Max, false
	for i := range a.Solids {
		if t, hit := a.Solids[i].enter(&b); hit && t <= best {
			best, ok = t, true
		}
	}
	if !ok {
		return 0, false
	}
	return best, true
}

func random64(r *rand.Rand, lo, hi float32) float32 {
	return lo + float32(r.IntN(int((hi-lo)*64)+1))/64
}

// scatter is an arena of solids thrown about at random, some of them wide.
func scatter(r *rand.Rand, solids int) *Arena {
	half := random64(r, 8, 120)
	at := geom.Vec3{X: random64(r, -1800, 1800), Z: random64(r, -1800, 1800)}
	var all []Solid
	for range solids {
		most := min(half, 6)
		if r.IntN(10) == 0 {
			most = half
		}
		size := geom.Vec3{X: random64(r, Unit, most), Y: random64(r, Unit, 6), Z: random64(r, Unit, most)}
		lo := geom.Vec3{X: random64(r, -half, half-size.X), Y: random64(r, -2, 6),
			Z: random64(r, -half, half-size.Z)}
		all = append(all, NewSolid(Shape(r.IntN(int(shapes))), at.Add(lo), at.Add(lo).Add(size)))
	}
	a, err := New("scatter", geom.AABB{Min: at.Sub(geom.Vec3{X: half, Y: 2, Z: half}),
		Max: at.Add(geom.Vec3{X: half, Y: 12, Z: half})}, all, nil)
	if err != nil {
		panic(err)
	}
	return a
}

// randomRay starts in or about an arena and flies anywhere, now and then exactly along an axis or a
// cell's border.
func randomRay(r *rand.Rand, a *Arena) geom.Ray {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	ray := geom.Ray{
		Origin: a.Bounds.Min.Add(geom.Vec3{X: size.X * (r.Float32()*1.4 - 0.2), Y: size.Y * r.Float32(),
			Z: size.Z * (r.Float32()*1.4 - 0.2)}),
		Dir: geom.Forward(geom.Angle(r.Uint32()), geom.Angle(int16(r.IntN(12000)-6000))),
		Max: 300 * r.Float32() * r.Float32(),
	}
	switch r.IntN(8) {
	case 0:
		ray.Dir = geom.Forward(geom.Angle(r.IntN(4)*0x4000), 0)
	case 1:
		ray.Dir = geom.Vec3{Y: float32(r.IntN(2)*2 - 1)}
	case 2:
		ray.Origin.X = a.Bounds.Min.X + float32(4*r.IntN(int(size.X/4)+1))
		ray.Dir = geom.Vec3{Z: 1}
	case 3:
		if len(a.Solids) > 0 {
			ray.Origin.X = a.Solids[r.IntN(len(a.Solids))].Min.X
			ray.Dir = geom.Vec3{Z: -1}
		}
	}
	return ray
}

func TestRaycast(t *testing.T) {
	hits := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := scatter(r, rapid.IntRange(0, 120).Draw(t, "solids"))
		for range 200 {
			ray := randomRay(r, a)
			got, ok := a.Raycast(ray)
			want, wantOK := slowRaycast(a, ray)
			if got != want || ok != wantOK {
				t.Fatalf("Raycast(%+v) = %v, %v, the twin %v, %v", ray, got, ok, want, wantOK)
			}
			if ok {
				hits++
			}
		}
	})
	want := 1000
	if testing.Short() { // rapid draws a fifth of the cases then
		want = 100
	}
	if hits < want {
		t.Errorf("only %d hits: nothing tested", hits)
	}
}

// TestEnter holds the prepared slab test to geom's for boxes, and for ramps to points along the
// ray: none before the entry is within the ramp, one just after it is.
func TestEnter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	hits := 0
	for range 100000 {
		lo := geom.Vec3{X: random64(r, -2, 1), Y: random64(r, -2, 1), Z: random64(r, -2, 1)}
		hi := lo.Add(geom.Vec3{X: random64(r, Unit, 3), Y: random64(r, Unit, 3), Z: random64(r, Unit, 3)})
		s := NewSolid(Shape(r.IntN(int(shapes))), lo, hi)
		ray := geom.Ray{Origin: geom.Vec3{X: r.Float32()*4 - 2, Y: r.Float32()*4 - 2, Z: r.Float32()*4 - 2},
			Dir: geom.Forward(geom.Angle(r.Uint32()), geom.Angle(r.Uint32())), Max: r.Float32() * 10}
		b := newBeam(ray)
		got, ok := s.enter(&b)
		if s.Shape == Box {
			want, wantOK := ray.Box(s.Bounds())
			if ok != wantOK || ok && math.Abs(float64(got-want)) > 1e-4 {
				t.Fatalf("enter(%v, %+v) = %v, %v, want %v, %v", s, ray, got, ok, want, wantOK)
			}
			continue
		}
		end := ray.Max
		if ok {
			hits++
			end = got
		}
		for i := range 50 {
			p := ray.At(end * float32(i) / 50)
			if below(&s, p) > 1e-3 && end-end*float32(i)/50 > 1e-2 {
				t.Fatalf("enter(%v, %+v) = %v, %v, but %v lies within", s, ray, got, ok, p)
			}
		}
		if ok && below(&s, ray.At(got)) < -1e-3 {
			t.Fatalf("enter(%v, %+v) = %v, but that lies outside", s, ray, got)
		}
	}
	if hits < 2000 {
		t.Errorf("only %d hits on ramps: nothing tested", hits)
	}
}

// below is how far p lies within a ramp, negative outside.
func below(s *Solid, p geom.Vec3) float64 {
	var run float32
	switch s.Shape {
	case RampPosX:
		run = p.X - s.Min.X
	case RampNegX:
		run = s.Max.X - p.X
	case RampPosZ:
		run = p.Z - s.Min.Z
	case RampNegZ:
		run = s.Max.Z - p.Z
	}
	plane := (run*s.Grade - (p.Y - s.Min.Y)) / float32(math.Hypot(1, float64(s.Grade)))
	return float64(min(p.X-s.Min.X, s.Max.X-p.X, p.Y-s.Min.Y, s.Max.Y-p.Y, p.Z-s.Min.Z, s.Max.Z-p.Z, plane))
}

func TestRaycastOddRays(t *testing.T) {
	a := Generate(16, 1)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, r := range []geom.Ray{
		{Origin: geom.Vec3{X: nan}, Dir: geom.Vec3{X: 1}, Max: 10},
		{Origin: geom.Vec3{Y: inf}, Dir: geom.Vec3{X: 1}, Max: 10},
		{Dir: geom.Vec3{X: nan}, Max: 10},
		{Dir: geom.Vec3{X: 1}, Max: nan},
		{Dir: geom.Vec3{X: 1}, Max: -1},
		{Origin: geom.Vec3{Y: 100}, Dir: geom.Vec3{Y: 1}, Max: 1000},
		{Origin: geom.Vec3{X: 3e38}, Dir: geom.Vec3{X: 1}, Max: 3e38},
	} {
		if d, ok := a.Raycast(r); ok || d != 0 {
			t.Errorf("%d: Raycast(%v) = %v, %v, want no hit", i, r, d, ok)
		}
	}
	if d, ok := a.Raycast(geom.Ray{Origin: geom.Vec3{Y: -0.5}, Dir: geom.Vec3{Y: 1}, Max: 1}); !ok || d != 0 {
		t.Errorf("from within the floor: %v, %v, want 0, true", d, ok)
	}
	if d, ok := a.Raycast(geom.Ray{Origin: geom.Vec3{Y: 2000}, Dir: geom.Vec3{Y: -1}, Max: inf}); !ok ||
		d > 2000 {
		t.Errorf("straight down without limit: %v, %v", d, ok)
	}
}

func TestNoAllocations(t *testing.T) {
	a := Generate(64, 1)
	r := rand.New(rand.NewPCG(1, 1))
	if n := alloctest.In(1000, func() {
		a.Raycast(randomRay(r, a))
		a.Near(r.Float32(), r.Float32())
		a.TeamSpawns(1)
		a.Overlaps(a.Bounds)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRaycast sends rays of a rifle's range from eye height through the map of 1024 players.
func BenchmarkRaycast(b *testing.B) {
	a, err := Open("arena-1024")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 2))
	rays := make([]geom.Ray, 1024)
	for i := range rays {
		s := a.Spawns[r.IntN(len(a.Spawns))]
		rays[i] = geom.Ray{Origin: s.Pos.Add(geom.Vec3{Y: 1.65}), Dir: geom.Forward(geom.Angle(r.Uint32()),
			geom.Angle(int16(r.IntN(4000)-2000))), Max: 200}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a.Raycast(rays[i&1023])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/ray")
	b.ReportMetric(0, "ns/op")
}
