package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every implementation measures the same displacements and names the same rows, for columns of
// every length.
func TestMovedSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	further, measured := 0, 0
	for round := range 40 {
		for n := range 70 {
			if n == 69 {
				n += rng.IntN(500)
			}
			_, xs, ys, zs, nr2 := scene(rng, n, math.Pow(10, float64(round%7)*0.6))
			a, b := Spheres{X: xs, Y: ys, Z: zs, NR2: nr2}, Spheres{NR2: make([]float32, n)}
			step := func(from []float32, most float32) (to []float32) {
				for _, v := range from {
					to = append(to, v+(rng.Float32()*2-1)*most)
				}
				return to
			}
			b.X, b.Y, b.Z = step(xs, 2), step(ys, 0.5), step(zs, 2)
			for i := range n {
				b.NR2[i] = a.NR2[i]
				switch rng.IntN(12) {
				case 0:
					a.NR2[i] = Never
				case 1:
					b.NR2[i] = Never
				}
			}
			if round%3 == 0 {
				for _, v := range [][]float32{a.X, a.Y, a.Z, a.NR2, b.X, b.Y, b.Z} {
					spoil(rng, v)
				}
			}
			limit := []float32{0, 1, 4, 9, odd[rng.IntN(len(odd))]}[rng.IntN(5)]
			want := make([]int32, n+1)
			named, most := displacementGeneric(&a, &b, n, limit, want)
			for name, k := range levels(t) {
				got := make([]int32, n+1)
				got[n] = -7
				count, top := k.displacement(&a, &b, n, limit, got)
				if count != named || math.Float32bits(top) != math.Float32bits(most) ||
					!slices.Equal(got[:count], want[:named]) || got[n] != -7 {
					t.Fatalf("%s, %d rows, limit %v: %v %v, want %v %v", name, n, limit, got[:count], top,
						want[:named], most)
				}
			}
			further += named
			if most > 0 {
				measured++
			}
		}
	}
	if further < 10000 || measured < 1000 {
		t.Fatalf("%d further, %d measured: the cases prove little", further, measured)
	}
}
