package arena

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
)

type dvec [3]float64

func wide(p geom.Vec3) dvec               { return dvec{float64(p.X), float64(p.Y), float64(p.Z)} }
func (a dvec) sub(b dvec) dvec            { return dvec{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }
func (a dvec) dot(b dvec) float64         { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func (a dvec) mad(b dvec, s float64) dvec { return dvec{a[0] + b[0]*s, a[1] + b[1]*s, a[2] + b[2]*s} }
func (a dvec) cross(b dvec) dvec {
	return dvec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// slowDistance is the distance from p to a solid in float64, 0 inside: of a box by clamping, of a
// ramp as the nearest of its eight triangles.
func slowDistance(s *Solid, p dvec) float64 {
	lo, hi := wide(s.Min), wide(s.Max)
	if s.Shape == Box {
		var q dvec
		for i := range q {
			q[i] = min(max(p[i], lo[i]), hi[i])
		}
		return math.Sqrt(p.sub(q).dot(p.sub(q)))
	}
	up, across, low, high := 0, 2, lo[0], hi[0]
	if s.Shape == RampPosZ || s.Shape == RampNegZ {
		up, across, low, high = 2, 0, lo[2], hi[2]
	}
	if s.Shape == RampNegX || s.Shape == RampNegZ {
		low, high = high, low
	}
	corner := func(u, y, w float64) (c dvec) { c[up], c[1], c[across] = u, y, w; return c }
	a, b := lo[across], hi[across]
	v := [6]dvec{corner(low, lo[1], a), corner(high, lo[1], a), corner(high, hi[1], a),
		corner(low, lo[1], b), corner(high, lo[1], b), corner(high, hi[1], b)}
	f := (p[up] - low) / (high - low)
	if f >= 0 && f <= 1 && p[across] >= a && p[across] <= b && p[1] >= lo[1] &&
		p[1] <= lo[1]+f*(hi[1]-lo[1]) {
		return 0
	}
	best := math.Inf(1)
	for _, t := range [8][3]int{{0, 1, 2}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}, {0, 2, 5},
		{0, 5, 3}} {
		best = min(best, triangle(p, v[t[0]], v[t[1]], v[t[2]]))
	}
	return best
}

// triangle is the distance from p to a triangle: to its plane where p is over it, else to an edge.
func triangle(p, a, b, c dvec) float64 {
	n := b.sub(a).cross(c.sub(a))
	over := true
	best := math.Inf(1)
	for _, e := range [3][2]dvec{{a, b}, {b, c}, {c, a}} {
		d := e[1].sub(e[0])
		if n.cross(d).dot(p.sub(e[0])) < 0 {
			over = false
		}
		f := min(max(p.sub(e[0]).dot(d)/d.dot(d), 0), 1)
		to := p.sub(e[0].mad(d, f))
		best = min(best, math.Sqrt(to.dot(to)))
	}
	if over {
		best = math.Abs(p.sub(a).dot(n)) / math.Sqrt(n.dot(n))
	}
	return best
}

// slowSweep steps along the path by the free distance.
func slowSweep(solids []Solid, r geom.Ray, radius float64) (t float64, ok bool) {
	o, d := wide(r.Origin), wide(r.Dir)
	for t <= float64(r.Max) {
		gap := math.Inf(1)
		for i := range solids {
			gap = min(gap, slowDistance(&solids[i], o.mad(d, t))-radius)
		}
		if gap < 1e-6 {
			return t, true
		}
		t += max(gap, 1e-4)
	}
	return t, false
}

func solidScene(t testing.TB, rng *rand.Rand, n int, half int) *Arena {
	var solids []Solid
	at := func(lo, hi int) float32 { return float32(lo+rng.IntN(hi-lo+1)) / 4 }
	for range n {
		lo := geom.Vec3{X: at(-4*half, 4*half-16), Y: at(0, 24), Z: at(-4*half, 4*half-16)}
		hi := lo.Add(geom.Vec3{X: at(1, 16), Y: at(1, 16), Z: at(1, 16)})
		solids = append(solids, NewSolid(Shape(rng.IntN(int(shapes))), lo, hi))
	}
	b := geom.AABB{Min: geom.Vec3{X: float32(-half), Z: float32(-half)}, Max: geom.Vec3{X: float32(half),
		Y: 16, Z: float32(half)}}
	a, err := New("scene", b, solids, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func within(rng *rand.Rand, lo, hi float32) float32 { return lo + (hi-lo)*rng.Float32() }

// TestRow49SweepAgainstAWalk compares flying spheres with a float64 walk by distances among boxes
// and ramps of every kind.
func TestRow49SweepAgainstAWalk(t *testing.T) {
	hits, misses := 0, 0
	for round := range 24 {
		rng := rand.New(rand.NewPCG(9, uint64(round)))
		a := solidScene(t, rng, 25, 10)
		for range 60 {
			r := geom.Ray{Max: within(rng, 0, 30)}
			r.Origin = geom.Vec3{X: within(rng, -11, 11), Y: within(rng, -1, 11), Z: within(rng, -11, 11)}
			r.Dir = geom.Vec3{X: within(rng, -1, 1), Y: within(rng, -1, 1), Z: within(rng, -1, 1)}
			if rng.IntN(3) > 0 {
				r.Dir = a.Solids[rng.IntN(len(a.Solids))].Max.Add(r.Dir).Sub(r.Origin)
			}
			if rng.IntN(4) == 0 {
				r.Dir = geom.Vec3{X: float32(rng.IntN(3) - 1), Y: float32(rng.IntN(3) - 1),
					Z: float32(rng.IntN(3) - 1)}
			}
			if r.Dir = r.Dir.Normalize(); r.Dir == (geom.Vec3{}) {
				continue
			}
			radius := []float32{0.01, 0.1, 0.2, 0.3, MaxSweep}[rng.IntN(5)]
			// The truth lies between the walks of a sphere that is a millimetre larger and one that
			// is as much smaller.
			const hair = 1e-3
			first, large := slowSweep(a.Solids, r, float64(radius)+hair)
			last, small := slowSweep(a.Solids, r, float64(radius)-hair)
			if large && first == 0 {
				continue // starts in something: another test
			}
			got, ok := a.Sweep(r, radius)
			at := float64(got.Distance)
			if ok && (!large || at < first-hair || small && at > last+hair) || !ok && small &&
				last < float64(r.Max)-hair {
				t.Fatalf("round %d: %+v r %v: %+v %v, walked to %v %v and %v %v", round, r, radius, got, ok,
					first, large, last, small)
			}
			if ok && (geom.Abs(got.Normal.LenSq()-1) > 1e-4 || got.Normal.Dot(r.Dir) > 2e-2) {
				t.Fatalf("round %d: %+v r %v: normal %v", round, r, radius, got.Normal)
			}
			if ok {
				hits++
			} else {
				misses++
			}
		}
	}
	if hits < 300 || misses < 300 {
		t.Fatalf("%d hits, %d misses", hits, misses)
	}
}

// A sphere in a solid is stopped at once if it goes deeper, and let go if not.
func TestSweepFromWithin(t *testing.T) {
	for shape := Box; shape < shapes; shape++ {
		s := NewSolid(shape, geom.Vec3{}, geom.Vec3{X: 4, Y: 4, Z: 4})
		a, err := New("one", geom.AABB{Min: geom.Vec3{X: -8, Y: -8, Z: -8}, Max: geom.Vec3{X: 8, Y: 8,
			Z: 8}}, []Solid{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(2, uint64(shape)))
		stopped, free := 0, 0
		for range 4000 {
			p := geom.Vec3{X: within(rng, -0.4, 4.4), Y: within(rng, -0.4, 4.4), Z: within(rng, -0.4, 4.4)}
			if gap := slowDistance(&s, wide(p)); gap > 0.29 {
				continue
			}
			d := geom.Vec3{X: within(rng, -1, 1), Y: within(rng, -1, 1), Z: within(rng, -1, 1)}.Normalize()
			hit, ok := a.Sweep(geom.Ray{Origin: p, Dir: d, Max: 1}, 0.3)
			n := s.normal(p)
			if ok != (n.Dot(d) < 0) || ok && hit.Distance != 0 {
				t.Fatalf("%v: %v towards %v: %+v %v, normal %v", shape, p, d, hit, ok, n)
			}
			if ok {
				stopped++
			} else {
				free++
			}
		}
		if stopped < 500 || free < 500 {
			t.Errorf("%v: %d stopped, %d free", shape, stopped, free)
		}
	}
}

// Long paths cross many squares; a thin sphere hits what a ray hits, at about the same place.
func TestSweepFarAcrossAMap(t *testing.T) {
	a := Generate(500, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	hits := 0
	for range 3000 {
		r := geom.Ray{Origin: geom.Vec3{X: within(rng, -60, 60), Y: within(rng, 0.5, 8),
			Z: within(rng, -60, 60)}, Max: 200}
		r.Dir = geom.Forward(geom.Angle(rng.Uint32()), geom.Angle(int16(rng.IntN(4000)-2000)))
		want, found := a.Raycast(r)
		if want == 0 && found {
			continue
		}
		got, ok := a.Sweep(r, 0)
		if ok != found || ok && geom.Abs(got.Distance-want) > 1e-2 {
			// along a face or an edge
			if hit, again := a.Sweep(r, 1e-3); !again || geom.Abs(hit.Distance-want) > 0.1 {
				t.Fatalf("%+v: %+v %v, ray %v %v", r, got, ok, want, found)
			}
		}
		if ok {
			hits++
		}
	}
	if hits < 1000 {
		t.Fatal(hits)
	}
}

func FuzzSweep(f *testing.F) {
	a := Generate(16, 1)
	f.Add(float32(0), float32(1), float32(0), uint16(100), uint16(200), float32(5), float32(0.3))
	f.Fuzz(func(t *testing.T, x, y, z float32, yaw, pitch uint16, limit, radius float32) {
		r := geom.Ray{Origin: geom.Vec3{X: x, Y: y, Z: z}, Dir: geom.Forward(geom.Angle(yaw),
			geom.Angle(pitch)), Max: limit}
		hit, ok := a.Sweep(r, radius)
		if ok && !(hit.Distance >= 0 && hit.Distance <= limit && geom.Abs(hit.Normal.LenSq()-1) < 1e-3) {
			t.Fatalf("%+v of %+v, radius %v", hit, r, radius)
		}
	})
}

func TestSweepAllocatesNothing(t *testing.T) {
	a := Generate(64, 1)
	r := geom.Ray{Origin: geom.Vec3{Y: 1}, Dir: geom.Forward(0x1234, 0), Max: 60}
	if n := alloctest.In(100, func() { a.Sweep(r, 0.3) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// BenchmarkSweep sweeps a tick's path of a rivet and of a grenade, beside a ray along the same path
// and a sweep of every solid.
func BenchmarkSweep(b *testing.B) {
	a := Generate(1000, 1)
	rng := rand.New(rand.NewPCG(5, 5))
	rays := make([]geom.Ray, 256)
	for i := range rays {
		rays[i] = geom.Ray{Origin: geom.Vec3{X: within(rng, -90, 90), Y: within(rng, 1, 4),
			Z: within(rng, -90, 90)}, Max: 80. / 60,
			Dir: geom.Forward(geom.Angle(rng.Uint32()), geom.Angle(int16(rng.IntN(4000)-2000)))}
	}
	for _, way := range []struct {
		name string
		one  func(geom.Ray)
	}{
		{"sphere", func(r geom.Ray) { a.Sweep(r, 0.3) }},
		{"ray", func(r geom.Ray) { a.Raycast(r) }},
		{"all", func(r geom.Ray) {
			beam := newBeam(r)
			for i := range a.Solids {
				a.Solids[i].sweep(&beam, 0.3)
			}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				for _, r := range rays {
					way.one(r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/sweep")
		})
	}
}

// A path that within accepts is not shortened by clip, to the bit.
func TestWithinCutsNothing(t *testing.T) {
	a := Generate(32, 3)
	rng := rand.New(rand.NewPCG(7, 7))
	span := a.Bounds.Max.Sub(a.Bounds.Min)
	in := 0
	for i := range 200000 {
		at := geom.Vec3{X: rng.Float32() * span.X, Y: rng.Float32() * span.Y, Z: rng.Float32() * span.Z}
		r := geom.Ray{Origin: a.Bounds.Min.Add(at), Dir: geom.Forward(geom.Angle(rng.Uint32()),
			geom.Angle(rng.Uint32())), Max: rng.Float32() * 40}
		if i%3 == 0 { // along an axis, or nearly
			r.Dir = [...]geom.Vec3{{X: 1}, {Y: -1}, {Z: -1}, {X: 1, Y: 1e-6}, {Z: 1, X: -1e-12}}[rng.IntN(5)]
		}
		if !a.within(&r) {
			continue
		}
		in++
		b := newBeam(r)
		if from, to, ok := a.clip(&b, rng.Float32()*MaxSweep*float32(i&1)); !ok || from != 0 || to != r.Max {
			t.Fatalf("%+v is cut to %v, %v, %v", r, from, to, ok)
		}
	}
	if in < 10000 {
		t.Fatalf("%d paths within: they prove little", in)
	}
}
