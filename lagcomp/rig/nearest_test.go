package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// NearestBoneToCapsule agrees with a comb over the capsule's axis: each of its points against each
// bone, in float64.
func TestRow49CapsulesAgainstAComb(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	near := 0
	for i := range 2000 {
		p := random(r, Hero(i%2))
		p.Pos = geom.Vec3{X: float32(r.IntN(4096)-2048) / 128, Z: float32(r.IntN(4096)-2048) / 128}
		vec := func(w float32) geom.Vec3 {
			return geom.Vec3{X: (r.Float32() - 0.5) * w, Y: (r.Float32() - 0.5) * w,
				Z: (r.Float32() - 0.5) * w}
		}
		c := geom.Capsule{A: p.Pos.Add(geom.Vec3{Y: 1}).Add(vec(2)), Radius: r.Float32() * 0.5}
		c.B = c.A.Add(vec([]float32{0, 0.5, 4}[i%3]))
		if i%7 == 0 { // parallel to a bone
			var body Body
			Capsules(&p, &body)
			c.B = c.A.Add(body[Chest].B.Sub(body[Chest].A).Scale(3))
		}
		var body Body
		Capsules(&p, &body)
		const teeth = 200
		want := math.Inf(1)
		for k := range teeth + 1 {
			at := c.A.Lerp(c.B, float32(k)/teeth)
			for _, b := range body {
				want = min(want, max(distance(at, b)-float64(c.Radius), 0))
			}
		}
		bone, got := HeroBodies.NearestToCapsule(c, &p)
		step := float64(c.B.Sub(c.A).Len()) / teeth
		if float64(got) > want+1e-4 || float64(got) < want-step-1e-4 {
			t.Fatalf("%v m off the %v, want %v: %+v %+v", got, bone, want, c, p)
		}
		if got == 0 {
			near++
		}
	}
	if near < 500 || near > 1500 {
		t.Fatalf("only %d touch", near)
	}
}
