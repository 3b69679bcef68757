package arena

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// The surface at the end of a ray is the one that Sweep touches, and of any point it is as near as
// the nearest solid by brute force.
func TestSurfaceIsTheNearest(t *testing.T) {
	a := Generate(32, 7)
	rng := rand.New(rand.NewPCG(71, 1))
	at := func() geom.Vec3 {
		in := func(lo, hi float32) float32 { return lo + (hi-lo)*rng.Float32() }
		return geom.Vec3{X: in(a.Bounds.Min.X, a.Bounds.Max.X), Y: in(a.Bounds.Min.Y, 6),
			Z: in(a.Bounds.Min.Z, a.Bounds.Max.Z)}
	}
	met, same := 0, 0
	for range 20_000 {
		p := at()
		best := 1e9
		for i := range a.Solids {
			if a.Solids[i].Pass == 0 {
				best = min(best, slowDistance(&a.Solids[i], wide(p)))
			}
		}
		q, n, ok := a.Surface(p, 1)
		if got := float64(p.Sub(q).Len()); ok != (best <= 1) && (best < 0.999 || best > 1.001) ||
			ok && (got-best > 1e-4 || best-got > 1e-4 || geom.Abs(n.Len()-1) > 1e-3) {
			t.Fatalf("%v: %v facing %v (%v) at %v m, the nearest solid is at %v m", p, q, n, ok, got, best)
		}
		dir := at().Sub(p).Normalize()
		ray := geom.Ray{Origin: p, Dir: dir, Max: 60}
		if touch, hit := a.Sweep(ray, 0); hit && touch.Distance > 0.5 {
			met++
			_, n, ok := a.Surface(ray.At(touch.Distance).Mad(touch.Normal, 1./16), 0.25)
			if ok && n.Dot(touch.Normal) > 0.99 {
				same++
			}
		}
	}
	if met < 5000 || same < met*97/100 {
		t.Errorf("%d of %d surfaces face as the ray met them", same, met)
	}
}
