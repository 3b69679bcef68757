package swarm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// The bearing of a place is that of geom.Atan2: near and far, along the axes, on diagonals, just
// beside where two angles are as near, and where there is none.
func TestBearing(t *testing.T) {
	same := func(x, z float32) {
		t.Helper()
		if got, want := bearing(x, z), turns(geom.Atan2(x, z)); got != want {
			t.Fatalf("bearing(%v, %v) = %v, want %v", x, z, got, want)
		}
	}
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-40, -1e-40, 1e-20, 3e38, -3e38, 0.1, -7,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for _, x := range values {
		for _, z := range values {
			same(x, z)
		}
	}
	r := rand.New(rand.NewPCG(4, 5))
	for range 1_000_000 {
		same((2*r.Float32()-1)*100, (2*r.Float32()-1)*100)
	}
	for half := range 2 * geom.Turn {
		sin, cos := math.Sincos(float64(half) * math.Pi / geom.Turn)
		same(float32(50*sin), float32(50*cos))
		same(float32(50*sin)+1e-5, float32(50*cos))
	}
}

func BenchmarkBearing(b *testing.B) {
	for name, f := range map[string]func(x, z float32) float32{"bearing": bearing,
		"atan2": func(x, z float32) float32 { return turns(geom.Atan2(x, z)) }} {
		b.Run(name, func(b *testing.B) {
			x, sum := float32(0), float32(0)
			for b.Loop() {
				if x += 0.37; x > 40 {
					x -= 80
				}
				sum += f(x, 11-x)
			}
			_ = sum
		})
	}
}
