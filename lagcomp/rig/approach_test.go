package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// ClosestApproach agrees with sampling the ray in fine steps, and is 0 where Test hits.
func TestPassesAgainstAComb(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	hits, misses := 0, 0
	for i := range 1200 {
		p := random(r, Hero(i%2))
		p.Pos = geom.Vec3{X: float32(r.IntN(4096)-2048) / 128, Z: float32(r.IntN(4096)-2048) / 128}
		ray := shotAt(r, &p)
		var body Body
		Capsules(&p, &body)
		want := math.Inf(1)
		for step := range 2001 {
			at := ray.At(ray.Max * float32(step) / 2000)
			for _, c := range body {
				want = min(want, max(distance(at, c), 0))
			}
		}
		bone, along, got := HeroBodies.ClosestApproach(ray, &p)
		if float64(got) > want+1e-3 || float64(got) < want-float64(ray.Max)/4000-1e-3 {
			t.Fatalf("%v m off the %v at %v, want %v: %+v %+v", got, bone, along, want, ray, p)
		}
		if d := max(distance(ray.At(along), body[bone]), 0); math.Abs(d-float64(got)) > 2e-3 {
			t.Fatalf("%v m along it is %v off the %v, not %v", along, d, bone, got)
		}
		if _, ok := HeroBodies.Test(ray, 0, &p); ok {
			if hits++; got > 2e-3 {
				t.Fatalf("hit, and %v m off: %+v %+v", got, ray, p)
			}
		} else {
			misses++
		}
	}
	if min(hits, misses) < 200 {
		t.Fatalf("%d hits, %d misses: the cases prove little", hits, misses)
	}
}
