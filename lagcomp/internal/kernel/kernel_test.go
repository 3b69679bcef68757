package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// touches is the oracle: in float64, does the ray as given come within the sphere?
func touches(r Ray, x, y, z, nr2 float32) bool {
	return missedBy(r, x, y, z, nr2) <= 0
}

// missedBy is the distance between the ray and the surface of the sphere, negative inside.
func missedBy(r Ray, x, y, z, nr2 float32) float64 {
	cx, cy, cz := float64(x)-float64(r.OX), float64(y)-float64(r.OY), float64(z)-float64(r.OZ)
	dx, dy, dz := float64(r.DX), float64(r.DY), float64(r.DZ)
	t := (cx*dx + cy*dy + cz*dz) / (dx*dx + dy*dy + dz*dz)
	t = min(max(t, 0), float64(r.Max))
	return math.Hypot(math.Hypot(cx-t*dx, cy-t*dy), cz-t*dz) - math.Sqrt(float64(r.Grow)-float64(nr2))
}

// scene makes a ray and n spheres around it; the ray barely touches or barely misses most of them.
func scene(rng *rand.Rand, n int, reach float64) (r Ray, xs, ys, zs, nr2 []float32) {
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	d := [3]float64{between(-1, 1), between(-1, 1), between(-1, 1)}
	if rng.IntN(4) == 0 {
		d[rng.IntN(3)] = 0
	}
	unit := math.Sqrt(d[0]*d[0]+d[1]*d[1]+d[2]*d[2]) * (1 + between(-1e-6, 1e-6))
	r = Ray{
		Grow: float32(max(0, between(-4, 4))),
		OX:   float32(between(-reach, reach)), OY: float32(between(-reach, reach)),
		OZ: float32(between(-reach, reach)),
		DX: float32(d[0] / unit), DY: float32(d[1] / unit), DZ: float32(d[2] / unit),
		Max: float32(between(0, 2*reach)),
	}
	for range n {
		radius := math.Pow(10, between(-1, 1.07))
		if radius*radius < float64(r.Grow)+0.01 {
			radius = math.Sqrt(float64(r.Grow) + 0.01)
		}
		// made perpendicular to the ray, radius long
		p := [3]float64{between(-1, 1), between(-1, 1), between(-1, 1)}
		along := p[0]*d[0] + p[1]*d[1] + p[2]*d[2]
		size := 0.0
		for i := range p {
			p[i] -= along * d[i] / (unit * unit)
			size += p[i] * p[i]
		}
		graze := radius * (1 + []float64{0, 1e-7, -1e-7, 1e-5, -1e-5, 1e-2, -1e-2,
			5}[rng.IntN(8)]) / math.Sqrt(size)
		t := between(-0.2*reach, 1.5*reach)
		switch rng.IntN(4) {
		case 0: // at the ray's end
			t, graze = float64(r.Max)+radius*(1+between(-1e-6, 1e-6)), between(0, 1e-3)
		case 1: // round its origin
			t = between(-2, 2) * radius
		}
		xs = append(xs, float32(float64(r.OX)+t*d[0]/unit+p[0]*graze))
		ys = append(ys, float32(float64(r.OY)+t*d[1]/unit+p[1]*graze))
		zs = append(zs, float32(float64(r.OZ)+t*d[2]/unit+p[2]*graze))
		nr2 = append(nr2, float32(float64(r.Grow)-radius*radius))
	}
	return r, xs, ys, zs, nr2
}

// TestNoTouchedSphereIsLost compares with the oracle on 4*10^5 mostly grazing cases up to
// kilometres away, and checks that what is named beyond it is a hair's breadth off: 64 * 2^-24 of
// the squared distance.
func TestNoTouchedSphereIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	touched, extra := 0, 0
	for round := range 8000 {
		reach := math.Pow(10, float64(round%7)*0.6) // 1 m to 4 km
		r, xs, ys, zs, nr2 := scene(rng, 50, reach)
		out := candidates(r, xs, ys, zs, nr2, nil)
		for i := range xs {
			named := len(out) > 0 && out[0] == int32(i)
			if named {
				out = out[1:]
			}
			off := missedBy(r, xs[i], ys[i], zs[i], nr2[i])
			switch {
			case off <= 0 && !named:
				t.Fatalf("round %d: sphere %d (%v %v %v, %v) of %+v is touched and was not named", round, i,
					xs[i], ys[i], zs[i], nr2[i], r)
			case off <= 0:
				touched++
			case named:
				extra++
				far := math.Hypot(math.Hypot(float64(xs[i]-r.OX), float64(ys[i]-r.OY)), float64(zs[i]-r.OZ))
				radius := math.Sqrt(float64(r.Grow) - float64(nr2[i]))
				// Beside the ray the widened radius; round its end a cylinder instead of a ball,
				// 0.42 radii at the corner; at its origin a cone of the root of slack.
				hair := math.Sqrt(radius*radius+4*slack*far*far) - radius
				if off > hair+0.42*(radius+hair)+2*math.Sqrt(slack)*far {
					t.Fatalf("round %d: sphere %d was named although %v m off at %v m", round, i, off, far)
				}
			}
		}
		if len(out) != 0 {
			t.Fatalf("round %d: indexes left over or out of order: %v", round, out)
		}
	}
	if touched < 50000 || extra < 100 {
		t.Fatalf("%d touched, %d barely missed: the cases prove little", touched, extra)
	}
}

func TestNeverAndNotFinite(t *testing.T) {
	nan := float32(math.NaN())
	r := Ray{DZ: 1, Max: 100}
	out := candidates(r, []float32{0, 0, 0, nan, 0}, []float32{0, 0, 0, 0, 50}, []float32{10, 10, -10, 10,
		10}, []float32{-1, Never, -1, -1, -1}, nil)
	if len(out) != 2 || out[0] != 0 || out[1] != 3 {
		t.Fatalf("named %v, want the one hit and the one that is not a number", out)
	}
	r.OZ = -Reach
	if out := candidates(r, []float32{0}, []float32{0}, []float32{Reach}, []float32{Never},
		out); len(out) != 0 {
		t.Fatal("a row marked Never was named")
	}
}

// candidates is Along for a column of these slices.
func candidates(r Ray, xs, ys, zs, nr2 []float32, out []int32) []int32 {
	c := Spheres{X: xs, Y: ys, Z: zs, NR2: nr2}
	return c.RayCandidates(&r, out)
}

func TestCandidatesAllocatesNothing(t *testing.T) {
	r, xs, ys, zs, nr2 := scene(rand.New(rand.NewPCG(1, 1)), 100, 50)
	out := make([]int32, 0, 100)
	if n := alloctest.In(100, func() { out = candidates(r, xs, ys, zs, nr2, out) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func FuzzCandidates(f *testing.F) {
	f.Add(float32(1), float32(2), float32(3), float32(0), float32(1), float32(0), float32(50), float32(1),
		float32(20), float32(3), float32(1))
	f.Fuzz(func(t *testing.T, ox, oy, oz, dx, dy, dz, limit, x, y, z, radius float32) {
		n := math.Sqrt(float64(dx)*float64(dx) + float64(dy)*float64(dy) + float64(dz)*float64(dz))
		r := Ray{ox, oy, oz, float32(float64(dx) / n), float32(float64(dy) / n), float32(float64(dz) / n),
			limit, 0, 0}
		for _, v := range []float32{ox, oy, oz, x, y, z, limit} {
			if !(math.Abs(float64(v)) <= Reach) {
				t.Skip()
			}
		}
		if !(n > 1e-3 && n < 1e6) || !(radius > 0.01 && radius < MaxRadius) || limit < 0 {
			t.Skip()
		}
		out := candidates(r, []float32{x}, []float32{y}, []float32{z}, []float32{-radius * radius}, nil)
		if len(out) == 0 && touches(r, x, y, z, -radius*radius) {
			t.Fatalf("%+v touches (%v %v %v) r %v", r, x, y, z, radius)
		}
	})
}

// BenchmarkCandidates tests one ray against a lobby: 1000 spheres, a few of them near the ray.
func BenchmarkCandidates(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 1000
	xs, ys, zs, nr2 := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		xs[i], ys[i], zs[i], nr2[i] = rng.Float32()*200-100, rng.Float32()*4, rng.Float32()*200-100,
			-0.95*0.95
	}
	c, out := Spheres{X: xs, Y: ys, Z: zs, NR2: nr2}, make([]int32, 0, n)
	r := Ray{DX: 0.8, DZ: 0.6, OY: 2, Max: 300, Widest: 0.95}
	for b.Loop() {
		out = c.RayCandidates(&r, out)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/test")
}
