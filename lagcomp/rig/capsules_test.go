package rig

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/internal/kernel"
)

// oddCapsules are 16 capsules and a ray that no body has: along the axes or nearly, beginning
// within, grazing, ending at the surface, equal to each other, without length or NaN.
func oddCapsules(r *rand.Rand, round int) (b capsules, k Skeleton, ray geom.Ray, grow float32) {
	scale := float32(math.Pow(10, float64(round%5)-3))
	coord := func(w float32) float32 { return (r.Float32() - 0.5) * w }
	vec := func(w float32) geom.Vec3 { return geom.Vec3{X: coord(w), Y: coord(w), Z: coord(w)} }
	for ray.Dir == (geom.Vec3{}) {
		ray.Dir = vec(1).Normalize()
	}
	if r.IntN(4) == 0 {
		ray.Dir = [3]geom.Vec3{{X: 1}, {Y: -1}, {Z: 1}}[r.IntN(3)]
	}
	ray.Origin, ray.Max = vec(4), r.Float32()*6
	grow = []float32{0, 0, 0.2, 0, 0, 0.1, 0, 9}[r.IntN(8)]
	for i := range Head {
		a, axis := vec(3), vec(1)
		radius := r.Float32() * 0.3
		switch r.IntN(8) {
		case 0: // along the ray
			axis = ray.Dir.Scale(0.3).Add(vec(scale))
		case 1: // on it
			a, axis = ray.At(r.Float32()*5).Add(vec(scale)), ray.Dir.Scale(-0.3).Add(vec(scale*1e-3))
		case 2: // grazed
			side := ray.Dir.Cross(axis).Normalize()
			a = ray.At(r.Float32() * 5).Add(side.Scale((radius + grow) * (1 + coord(scale*1e-3))))
		case 3: // begins or ends at it
			a = ray.At([]float32{0, ray.Max}[r.IntN(2)]).Add(ray.Dir.Scale(radius +
				grow)).Add(vec(scale * 1e-3))
		case 4: // as the one before
			if i > 0 {
				c := b.capsule(i-1, &k)
				a, axis, radius = c.A, c.B.Sub(c.A), c.Radius
			}
		case 5:
			switch r.IntN(40) {
			case 0:
				axis = geom.Vec3{}
			case 1:
				a.X = float32(math.NaN())
			case 2:
				radius = float32(math.Inf(1))
			}
		}
		end := a.Add(axis)
		b.AX[i], b.AY[i], b.AZ[i], b.BX[i], b.BY[i], b.BZ[i] = a.X, a.Y, a.Z, end.X, end.Y, end.Z
		if i > 0 && i%5 == 0 { // the last two ends are the same
			b.BX[i], b.BY[i], b.BZ[i] = b.AX[i-1], b.AY[i-1], b.AZ[i-1]
		}
		k.radii.Radius[i] = radius
		k.radii.Bound[i] = b.capsule(i, &k).B.Sub(a).Len()/2 + radius + 2e-3
		if round%3 == 0 {
			k.radii.Bound[i]++
		}
	}
	switch r.IntN(50) {
	case 0:
		ray.Max = 0
	case 1:
		ray.Max = float32(math.Inf(1))
	case 2:
		ray.Origin.Y = float32(math.NaN())
	}
	return b, k, ray, grow
}

// Assembly finds the bone that Go finds, to the bit, for bodies and for odd capsules.
func TestFirstSame(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 36))
	hits, inside, undecided, bones := 0, 0, 0, [Head]int{}
	same := func(b *capsules, k *Skeleton, ray *geom.Ray, grow float32) {
		t.Helper()
		f := kernel.MovingSphere{OX: ray.Origin.X, OY: ray.Origin.Y, OZ: ray.Origin.Z, DX: ray.Dir.X,
			DY: ray.Dir.Y, DZ: ray.Dir.Z, Max: ray.Max, Radius: grow}
		lane, at := b.FirstHit(&f, &k.radii.Radii)
		if lane == kernel.Undecided {
			undecided++
			return
		}
		bone, want, ok := b.firstGeneric(ray, grow, k)
		if ok != (lane >= 0) || ok && (Bone(lane) != bone || math.Float32bits(at) != math.Float32bits(want)) {
			t.Fatalf("lane %d at %v, want %v %v at %v: %+v %v %+v", lane, at, ok, bone, want, ray, grow, b)
		}
		if ok {
			hits++
			bones[bone]++
			if want == 0 {
				inside++
			}
		}
	}
	var b capsules
	solve(&Pose{}, &Skeletons[Terraformer], &b)
	if lane, _ := b.FirstHit(&kernel.MovingSphere{}, &Skeletons[0].radii.Radii); lane == kernel.Undecided {
		t.Skip("no assembly: Go's own answers")
	}
	n := 60_000
	if testing.Short() {
		n = 15_000
	}
	for i := range n {
		p := random(r, Hero(i%2))
		ray, grow := shotAt(r, &p), []float32{0, 0, 0.2, 3}[i%4]
		solve(&p, &Skeletons[p.Form.Hero()], &b)
		same(&b, &Skeletons[i%2], &ray, grow)
	}
	bodies := hits
	for i := range n {
		b, k, ray, grow := oddCapsules(r, i)
		same(&b, &k, &ray, grow)
	}
	t.Logf("%d of %d bodies hit, %d of as many odd sets, %d from within, %d undecided", bodies, n,
		hits-bodies, inside, undecided)
	if bodies < n/4 || hits-bodies < n/4 || inside < n/50 || undecided < n/200 || undecided > n/2 {
		t.Error("the cases prove little")
	}
	for bone, count := range bones {
		if count < n/1000 {
			t.Errorf("%v is hit %d times", Bone(bone), count)
		}
	}
}

// The order in which capsules are asked decides nothing but between those equally near.
func TestLookIsTheNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 37))
	for i := range 20_000 {
		b, k, ray, grow := oddCapsules(r, i)
		best, at := -1, ray.Max
		for i := range Head {
			c := b.capsule(i, &k)
			if _, may := b.near(&ray, grow, c.A, c.B, k.radii.Bound[i]); !may {
				continue
			}
			c.Radius += grow
			if d, ok := ray.Capsule(c); ok && d <= at {
				best, at = int(i), d
			}
		}
		bone, d, ok := b.firstGeneric(&ray, grow, &k)
		if ok != (best >= 0) || ok && (int(bone) != best || d != at) {
			t.Fatalf("%v %v at %v, want %d at %v: %+v %v %+v", ok, bone, d, best, at, ray, grow, b)
		}
	}
}
