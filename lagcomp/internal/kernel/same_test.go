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

// pairOf makes two columns of n rows that r barely touches or barely misses at, before or after f.
func pairOf(rng *rand.Rand, r *Ray, c Column, f float32) (a, b Column) {
	n := len(c.X)
	a = Column{X: c.X, Y: c.Y, Z: c.Z, NR2: c.NR2, Life: make([]uint32, n)}
	b = Column{Life: make([]uint32, n), NR2: make([]float32, n)}
	for range n {
		b.X, b.Y, b.Z = append(b.X, 0), append(b.Y, 0), append(b.Z, 0)
	}
	for i := range n {
		step := [3]float32{rng.Float32()*4 - 2, rng.Float32() - 0.5, rng.Float32()*4 - 2}
		b.X[i], b.Y[i], b.Z[i] = a.X[i]+step[0], a.Y[i]+step[1], a.Z[i]+step[2]
		if rng.IntN(3) > 0 { // so that the place between is where c was made to be
			a.X[i], a.Y[i], a.Z[i] = c.X[i]-f*step[0], c.Y[i]-f*step[1], c.Z[i]-f*step[2]
		}
		a.Life[i], b.Life[i] = rng.Uint32N(3), rng.Uint32N(3)
		if rng.IntN(2) == 0 {
			b.Life[i] = a.Life[i]
		}
	}
	return a, b
}

// same compares every implementation with the truth, on all there is to name.
func same(t *testing.T, r Ray, s Ball, a, b Column, f float32) (named int) {
	t.Helper()
	n := len(a.X)
	type answer struct {
		ray, between, ball, ballBetween []int32
		index                           int
		t                               uint32
	}
	ask := func(k isa) (got answer) {
		p, q := probe{f: f}, probe{f: f}
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
		got.ray = list(func(out []int32) int { return k.ray(&p, &a, n, out) })
		got.between = list(func(out []int32) int { return k.rayBetween(&p, &a, &b, n, out) })
		got.ball = list(func(out []int32) int { return k.ball(&q, &a, n, out) })
		got.ballBetween = list(func(out []int32) int { return k.ballBetween(&q, &a, &b, n, out) })
		index, distance := nearest(k, &r, &a, n)
		got.index, got.t = index, math.Float32bits(distance)
		return got
	}
	want := ask(generic)
	for name, k := range levels(t) {
		got := ask(k)
		for _, c := range []struct {
			what      string
			got, want []int32
		}{
			{"ray", got.ray, want.ray}, {"between", got.between, want.between}, {"ball", got.ball, want.ball},
			{"ball between", got.ballBetween, want.ballBetween},
		} {
			if !slices.Equal(c.got, c.want) {
				t.Fatalf("%s, %s of %d rows: named %v, want %v, by %+v or %+v at %v", name, c.what, n, c.got, c.want, r, s, f)
			}
		}
		if got.index != want.index || got.t != want.t {
			t.Fatalf("%s, nearest of %d rows: %d at %x, want %d at %x, by %+v", name, n, got.index, got.t, want.index, want.t, r)
		}
	}
	return len(want.ray) + len(want.between) + len(want.ball) + len(want.ballBetween)
}

// TestSameEverywhere compares the implementations, row for row and bit for bit, on every length from 0 to 67 and some longer, at
// every alignment, near and far, tame and spoilt.
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
			a := Column{X: xs[skip : skip+n], Y: ys[skip : skip+n], Z: zs[skip : skip+n], NR2: nr2[skip : skip+n]}
			f := []float32{0, 1, float32(rng.IntN(256)) / 256}[rng.IntN(3)]
			a, b := pairOf(rng, &r, a, f)
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
				for _, v := range [][]float32{a.X, a.Y, a.Z, a.NR2, b.X, b.Y, b.Z} {
					spoil(rng, v)
				}
				if rng.IntN(4) == 0 {
					q := []*float32{&r.OX, &r.DX, &r.DY, &r.Max, &r.Grow, &r.Widest, &s.X, &s.Y, &s.Grow, &f}
					*q[rng.IntN(len(q))] = odd[rng.IntN(len(odd))]
				}
			}
			named += same(t, r, s, a, b, f)
		}
	}
	if named < 100000 {
		t.Fatalf("only %d rows were named: the cases prove little", named)
	}
}

// FuzzSame lets the fuzzer write rows, ray and fraction.
func FuzzSame(f *testing.F) {
	f.Add(uint64(1), uint8(33), float32(0.6), float32(0), float32(0.8), float32(100), float32(1), float32(0.5), float32(3), float32(-4))
	f.Add(uint64(2), uint8(16), float32(0), float32(-1), float32(0), float32(0), float32(0), float32(1), float32(math.Inf(1)), float32(0))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, dx, dy, dz, limit, grow, frac, x, z float32) {
		rng := rand.New(rand.NewPCG(seed, seed))
		r, xs, ys, zs, nr2 := scene(rng, int(n), 50)
		a, b := pairOf(rng, &r, Column{X: xs, Y: ys, Z: zs, NR2: nr2}, frac)
		r.DX, r.DY, r.DZ, r.Max, r.Grow = dx, dy, dz, limit, grow
		for i := range a.X {
			if i%3 == 0 {
				a.X[i], b.Z[i] = x, z
			}
		}
		same(t, r, Ball{x, dy, z, grow, 0}, a, b, frac)
	})
}
