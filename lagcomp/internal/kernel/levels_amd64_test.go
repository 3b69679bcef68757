//go:build !noasm

package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// levels lists the implementations this machine can run, the truth first.
func levels(tb testing.TB) map[string]isa {
	all := map[string]isa{"generic": generic}
	if cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		all["avx2"] = avx2
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL {
			all["avx512"] = avx512
		}
	}
	if len(all) < 3 {
		tb.Logf("only %d of 3 implementations run on this machine", len(all))
	}
	return all
}

// What packs rows names the same where it is not used, too: among few rows, of every length.
func TestManySame(t *testing.T) {
	if levels(t)["avx512"] != avx512 {
		t.Skip("no AVX-512")
	}
	rng := rand.New(rand.NewPCG(12, 12))
	named := 0
	for round := range 40 {
		for n := 1; n < 100; n++ {
			r, xs, ys, zs, nr2 := scene(rng, n, math.Pow(10, float64(round%7)*0.6))
			a := Spheres{X: xs, Y: ys, Z: zs, NR2: nr2}
			if round%3 == 0 {
				for _, v := range [][]float32{xs, ys, zs, nr2} {
					spoil(rng, v)
				}
			}
			var p probe
			p.ray(&r)
			want, got := make([]int32, n), make([]int32, n+1)
			got[n] = -7
			want = want[:rayGeneric(&p, &a, n, want)]
			if list := got[:manyAVX2(p.flat(), a.flat(), n, &got[0])]; !slices.Equal(list, want) {
				t.Fatalf("%d rows, AVX2: named %v, want %v", n, list, want)
			}
			if list := got[:manyAVX512(p.flat(), a.flat(), n, &got[0])]; !slices.Equal(list, want) {
				t.Fatalf("%d rows: named %v, want %v", n, list, want)
			}
			named += len(want)
			if got[n] != -7 {
				t.Fatalf("wrote beyond row %d", n)
			}
		}
	}
	if named < 5000 {
		t.Fatalf("only %d named", named)
	}
}
