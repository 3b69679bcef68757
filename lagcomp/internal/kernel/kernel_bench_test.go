package kernel

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkBroad names the candidates of 64 rays, or of 64 balls of 5 m, among 1000 players on 200 m: of one tick, and between two.
// "lerp-first" is what Between spares: working out where everybody is, then testing them.
func BenchmarkBroad(b *testing.B) {
	const n = 1000
	a := newArena(n, 64, 200)
	next := Column{X: slices.Clone(a.X), Y: slices.Clone(a.Y), Z: slices.Clone(a.Z), NR2: a.NR2, Life: make([]uint32, n)}
	a.Life = make([]uint32, n)
	for i := range next.X {
		next.X[i] += 0.1
	}
	lerped := Column{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), NR2: a.NR2}
	balls := make([]Ball, len(a.rays))
	for i, r := range a.rays {
		balls[i] = Ball{X: r.OX, Y: r.OY, Z: r.OZ, Grow: 5.95*5.95 - 0.95*0.95, Widest: 0.95}
	}
	out := make([]int32, n)
	for name, k := range levels(b) {
		for _, c := range []struct {
			what string
			run  func(i int) int
		}{
			{"ray", func(i int) int { var p probe; p.ray(&a.rays[i]); return k.ray(&p, &a.Column, n, out) }},
			{"ray-between", func(i int) int {
				p := probe{f: 0.3}
				p.ray(&a.rays[i])
				return k.rayBetween(&p, &a.Column, &next, n, out)
			}},
			{"ray-lerp-first", func(i int) int {
				lerp(lerped.X, a.X, next.X, 0.3)
				lerp(lerped.Y, a.Y, next.Y, 0.3)
				lerp(lerped.Z, a.Z, next.Z, 0.3)
				var p probe
				p.ray(&a.rays[i])
				return k.ray(&p, &lerped, n, out)
			}},
			{"ball", func(i int) int { var p probe; p.ball(&balls[i]); return k.ball(&p, &a.Column, n, out) }},
			{"ball-between", func(i int) int {
				p := probe{f: 0.3}
				p.ball(&balls[i])
				return k.ballBetween(&p, &a.Column, &next, n, out)
			}},
		} {
			b.Run(fmt.Sprintf("%s/%s", c.what, name), func(b *testing.B) {
				b.ReportAllocs()
				from := cpuNanos(b)
				for b.Loop() {
					for i := range balls {
						sink += c.run(i)
					}
				}
				a.report(b, cpuNanos(b)-from)
			})
		}
	}
}

func lerp(dst, a, b []float32, f float32) {
	for i := range dst {
		dst[i] = a[i] + float32((b[i]-a[i])*f)
	}
}

// BenchmarkCall is Nearest of 16 spheres, of rays that all hit or all miss: what a call costs however few are asked, less the tests
// themselves, 2.5 ns with AVX-512 and 3.2 with AVX2 by ns/test of BenchmarkNearest for 1024.
//
// Measured with AVX-512: 7.8 ns a miss, 17.6 a hit; with AVX2 10.0 and 18.3. What a hit has more is the float64 verdict: some 70 cycles
// of products and sums that wait for each other, after another 40 until its row is known. They overlap with the next call's only as
// far as the processor looks ahead: without the square root it would be 1.4 ns less, without a verdict 10. A verdict in float32 as
// c-fma gives it takes 9 ns, and would not be the oracle's.
func BenchmarkCall(b *testing.B) {
	const n = 16
	a := newArena(n, 256, 200)
	var rays [2][]Ray
	for i := range a.rays {
		hit := 0
		if at, _ := Nearest(&a.rays[i], &a.Column); at >= 0 {
			hit = 1
		}
		rays[hit] = append(rays[hit], a.rays[i])
	}
	for hit, what := range []string{"miss", "hit"} {
		for name, k := range levels(b) {
			b.Run(what+"/"+name, func(b *testing.B) {
				few := rays[hit][:64]
				from := cpuNanos(b)
				for b.Loop() {
					for i := range few {
						at, _ := nearest(k, &few[i], &a.Column, n)
						sink += at
					}
				}
				b.ReportMetric((cpuNanos(b)-from)/float64(b.N*len(few)), "ns/ray")
			})
		}
	}
}
