package arena

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// TestTops holds the table to all solids of the maps: none within Beside is higher, and a multiple of
// Unit is the height of a floor all around.
func TestTops(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	level := 0
	for _, a := range []*Arena{Generate(60, 1), Town(60, 2), Generate(1400, 3)} {
		size := a.Bounds.Max.Sub(a.Bounds.Min)
		for range 20000 {
			p := a.Bounds.Min.Add(geom.Vec3{X: r.Float32() * size.X, Z: r.Float32() * size.Z})
			top, highest, floor := a.Tops().At(p.X, p.Z), float32(-math.MaxFloat32), false
			for i := range a.Solids {
				s := &a.Solids[i]
				dx, dz := max(s.Min.X-p.X, p.X-s.Max.X), max(s.Min.Z-p.Z, p.Z-s.Max.Z)
				if dx <= Beside && dz <= Beside {
					highest = max(highest, s.Max.Y)
				}
				floor = floor || s.Max.Y == top && s.Shape == Box && s.Pass == 0 && dx < 0 && dz < 0
			}
			if top < highest {
				t.Fatalf("%s at %v: %v, but a solid reaches to %v", a.Name, p, top, highest)
			}
			if float32(math.Round(float64(top/Unit)))*Unit == top && top < noTop {
				level++
				if top != highest || !floor {
					t.Fatalf("%s at %v: level at %v, highest %v", a.Name, p, top, highest)
				}
			}
		}
		nan := float32(math.NaN())
		for _, p := range [][2]float32{{nan, nan}, {1e30, 0}, {-1e30, 0}, {a.Bounds.Min.X - 0.1, 0},
			{0, a.Bounds.Max.Z - 0.1}, {float32(math.Inf(-1)), 0}} {
			if top := a.Tops().At(p[0], p[1]); top != noTop {
				t.Errorf("%s at %v: %v", a.Name, p, top)
			}
		}
	}
	if level < 20000 {
		t.Errorf("only %d points of 60000 are level", level)
	}
}
