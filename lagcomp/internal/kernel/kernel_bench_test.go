package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// arena is spheres on a square of the given side, and rays; every other ray is aimed at a sphere.
type arena struct {
	Spheres
	rays []Ray
}

func newArena(spheres, rays int, side float32) *arena {
	rng := rand.New(rand.NewPCG(uint64(spheres), uint64(side)))
	var a arena
	place := func() [3]float32 {
		return [3]float32{(rng.Float32() - 0.5) * side, rng.Float32() * 4, (rng.Float32() - 0.5) * side}
	}
	for range spheres {
		c := place()
		a.X, a.Y, a.Z, a.NR2 = append(a.X, c[0]), append(a.Y, c[1]), append(a.Z, c[2]),
			append(a.NR2, -0.95*0.95)
	}
	for len(a.rays) < rays {
		o, to := place(), place()
		if i := rng.IntN(spheres); len(a.rays)%2 == 0 {
			to = [3]float32{a.X[i], a.Y[i], a.Z[i]}
		}
		d := [3]float64{float64(to[0] - o[0]), float64(to[1] - o[1]), float64(to[2] - o[2])}
		n := math.Sqrt(d[0]*d[0] + d[1]*d[1] + d[2]*d[2])
		r := Ray{OX: o[0], OY: o[1], OZ: o[2], DX: float32(d[0] / n), DY: float32(d[1] / n),
			DZ: float32(d[2] / n), Max: 2 * side, Widest: 0.95}
		if n > 2 {
			a.rays = append(a.rays, r)
		}
	}
	return &a
}

// BenchmarkBroad names the candidates of 64 rays, or of 64 balls of 5 m, among 1000 players on 200
// m.
func BenchmarkBroad(b *testing.B) {
	const n = 1000
	a := newArena(n, 64, 200)
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
			{"ray", func(i int) int { var p probe; p.ray(&a.rays[i]); return k.ray(&p, &a.Spheres, n, out) }},
			{"ball", func(i int) int {
				var p probe
				p.ball(&balls[i])
				return k.ball(&p, &a.Spheres, n,
					out)
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

var sink int

// report gives the processor time of all rays; it includes no other process.
func (a *arena) report(b *testing.B, nanos float64) {
	perOp := nanos / float64(b.N)
	b.ReportMetric(perOp, "ns/op")
	b.ReportMetric(perOp/float64(len(a.rays)), "ns/ray")
	b.ReportMetric(perOp/float64(len(a.rays)*len(a.X)), "ns/test")
}
