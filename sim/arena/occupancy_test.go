package arena

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// A box that meets a solid is never said to be free, and most of those that meet none are: on maps
// of every kind, within the bounds, at their edges and beyond them.
func TestOccupancyAgainstAllSolids(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	maps := []*Arena{Generate(16, 1), Generate(300, 2), Town(64, 3), solidScene(t, rng, 25, 10)}
	for _, a := range maps {
		free, told := 0, 0
		b := geom.AABB{Min: a.Bounds.Min.Sub(geom.Vec3{X: 4, Y: 4, Z: 4}),
			Max: a.Bounds.Max.Add(geom.Vec3{X: 4, Y: 4, Z: 4})}
		for i := range 20000 {
			lo := geom.Vec3{X: within(rng, b.Min.X, b.Max.X), Y: within(rng, b.Min.Y, min(b.Max.Y, 12)),
				Z: within(rng, b.Min.Z, b.Max.Z)}
			if i%4 == 0 { // on the borders of squares and solids
				s := &a.Solids[rng.IntN(len(a.Solids))]
				lo = s.Max
				if i%8 == 0 {
					lo = geom.Vec3{X: float32(int(lo.X)), Y: float32(int(lo.Y)), Z: float32(int(lo.Z))}
				}
			}
			grow := [...]float32{1, 2, longestBox}[i%3]
			hi := lo.Add(geom.Vec3{X: within(rng, 0, grow), Y: within(rng, 0, 2), Z: within(rng, 0, grow)})
			meets, found := false, a.filled.meets(lo, hi)
			for k := range a.Solids {
				s := &a.Solids[k]
				meets = meets || s.Min.X <= hi.X && s.Max.X >= lo.X && s.Min.Y <= hi.Y && s.Max.Y >= lo.Y &&
					s.Min.Z <= hi.Z && s.Max.Z >= lo.Z
			}
			if meets && !found {
				t.Fatalf("%s: %v to %v meets a solid, but is said to be free", a.Name, lo, hi)
			}
			if !meets && i%3 == 0 {
				free++
				if !found {
					told++
				}
			}
		}
		if a.Name != "scene" && told < free/4 {
			t.Errorf("%s: of %d free boxes, %d are said to be free", a.Name, free, told)
		}
	}
}

// Paths that one word decides end as the walk along them says.
func TestSweepThroughFreeSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	a := Generate(64, 5)
	free, hits := 0, 0
	for range 50000 {
		r := geom.Ray{Origin: geom.Vec3{X: within(rng, a.Bounds.Min.X-1, a.Bounds.Max.X+1),
			Y: within(rng, -1, 6), Z: within(rng, a.Bounds.Min.Z-1, a.Bounds.Max.Z+1)},
			Dir: geom.Forward(geom.Angle(rng.Uint32()), geom.Angle(rng.IntN(4000)-2000)),
			Max: within(rng, 0, 3)}
		radius := [...]float32{0, 0.2, 0.3, MaxSweep}[rng.IntN(4)]
		got, ok := a.Sweep(r, radius)
		want, touched := a.sweepPieces(r, radius)
		if got != want || ok != touched {
			t.Fatalf("%+v, radius %v: %+v %v, the walk says %+v %v", r, radius, got, ok, want, touched)
		}
		if a.Free(a.Probe(&r, radius)) {
			if free++; touched {
				t.Fatalf("%+v, radius %v is said to be free, and touches %+v", r, radius, want)
			}
		}
		if ok {
			hits++
		}
	}
	if free < 10000 || hits < 2000 {
		t.Errorf("%d free, %d hits: the cases prove little", free, hits)
	}
}
