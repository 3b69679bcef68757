package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// odd are numbers that break arithmetic: not finite, next to nothing, too large to square.
var odd = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	math.SmallestNonzeroFloat32, 1e-30, -1e-30, math.MaxFloat32, -math.MaxFloat32, 1e20, -1e20,
}

// spoil puts odd numbers in some places.
func spoil(rng *rand.Rand, v []float32) {
	for i := range v {
		if rng.IntN(16) == 0 {
			v[i] = odd[rng.IntN(len(odd))]
		}
	}
}

// same compares every implementation with the generic one.
func same(t *testing.T, r Ray, s Ball, c Spheres) (named int) {
	t.Helper()
	n := len(c.X)
	ask := func(k isa) (got [2][]int32) {
		var p, q probe
		p.ray(&r)
		q.ball(&s)
		list := func(run func(out []int32) int) []int32 {
			out := make([]int32, n+1)
			out[n] = -7
			named := out[:run(out)]
			if out[n] != -7 {
				t.Fatalf("level %v wrote beyond row %d", k, n)
			}
			return named
		}
		got[0] = list(func(out []int32) int { return k.ray(&p, &c, n, out) })
		got[1] = list(func(out []int32) int { return k.ball(&q, &c, n, out) })
		return got
	}
	want := ask(generic)
	for name, k := range levels(t) {
		got := ask(k)
		for i, what := range []string{"ray", "ball"} {
			if !slices.Equal(got[i], want[i]) {
				t.Fatalf("%s, %s of %d rows: named %v, want %v, by %+v or %+v", name, what, n, got[i],
					want[i], r, s)
			}
		}
	}
	return len(want[0]) + len(want[1])
}

// TestSameEverywhere compares the implementations, row for row and bit for bit, on every length
// from 0 to 67 and some longer, at every alignment, near and far, tame and spoilt.
func TestSameEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	named := 0
	for round := range 150 {
		for n := range 68 {
			if n == 67 {
				n += rng.IntN(600)
			}
			r, xs, ys, zs, nr2 := scene(rng, n+8, math.Pow(10, float64(round%7)*0.6))
			skip := rng.IntN(8) // columns need not be aligned
			a := Spheres{X: xs[skip : skip+n], Y: ys[skip : skip+n], Z: zs[skip : skip+n],
				NR2: nr2[skip : skip+n]}
			s := Ball{r.OX, r.OY, r.OZ, r.Grow, 0}
			if n > 0 && rng.IntN(2) == 0 { // barely touches one of them
				radius := float32(math.Sqrt(float64(r.Grow - a.NR2[0])))
				s.X, s.Y, s.Z = a.X[0]+0.6*radius, a.Y[0], a.Z[0]-0.8*radius
			}
			if rng.IntN(3) == 0 {
				r.Widest, s.Widest = 3, 1
			}
			if rng.IntN(16) == 0 {
				r.DX, r.DY, r.DZ = 0, float32(rng.IntN(3)-1), 0
			}
			if round%3 == 0 {
				for _, v := range [][]float32{a.X, a.Y, a.Z, a.NR2} {
					spoil(rng, v)
				}
				if rng.IntN(4) == 0 {
					q := []*float32{&r.OX, &r.DX, &r.DY, &r.Max, &r.Grow, &r.Widest, &s.X, &s.Y, &s.Grow}
					*q[rng.IntN(len(q))] = odd[rng.IntN(len(odd))]
				}
			}
			named += same(t, r, s, a)
		}
	}
	if named < 50000 {
		t.Fatalf("only %d rows were named: the cases prove little", named)
	}
}

// FuzzSame lets the fuzzer write rows and ray.
func FuzzSame(f *testing.F) {
	f.Add(uint64(1), uint8(33), float32(0.6), float32(0), float32(0.8), float32(100), float32(1),
		float32(3), float32(-4))
	f.Add(uint64(2), uint8(16), float32(0), float32(-1), float32(0), float32(0), float32(0),
		float32(math.Inf(1)), float32(0))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, dx, dy, dz, limit, grow, x, z float32) {
		rng := rand.New(rand.NewPCG(seed, seed))
		r, xs, ys, zs, nr2 := scene(rng, int(n), 50)
		r.DX, r.DY, r.DZ, r.Max, r.Grow = dx, dy, dz, limit, grow
		for i := range xs {
			if i%3 == 0 {
				xs[i], zs[i] = x, z
			}
		}
		same(t, r, Ball{x, dy, z, grow, 0}, Spheres{X: xs, Y: ys, Z: zs, NR2: nr2})
	})
}
