package object

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
)

// yardOf is a scene with barrels all over a map larger than the yard, some of them in one spot,
// every tenth broken.
func yardOf(tb testing.TB, barrels int, half float32) (*stage, *rand.Rand) {
	s := newStage(plain(tb), 1)
	rng := rand.New(rand.NewPCG(uint64(barrels), 3))
	for i := range barrels {
		at := v3(between(rng, -half, half), between(rng, -2, 2), between(rng, -half, half))
		if i%20 == 19 {
			at = s.Barrels[i-1].Pos
		}
		s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(i), at))
		if i%10 == 0 {
			s.Barrels[i].Health = 0
		}
	}
	return s, rng
}

func sweepAt(rng *rand.Rand, at geom.Vec3, max float32) geom.Ray {
	return geom.Ray{Origin: at, Dir: geom.Forward(geom.Angle(rng.Uint32()),
		geom.Angle(int16(rng.IntN(4000)-2000))), Max: max}
}

// The yard finds what asking each barrel finds, the first row of two in one spot too.
func TestYardAgainstEachBarrel(t *testing.T) {
	for _, half := range []float32{30, 200} {
		s, rng := yardOf(t, 300, half)
		placed := *s.Scene
		placed.PlaceBarrels()
		hits, yards := 0, 0
		for range 20000 {
			r := sweepAt(rng, s.Barrels[rng.IntN(300)].Pos.Add(v3(between(rng, -3, 3), between(rng, 0, 1),
				between(rng, -3, 3))), between(rng, 0, 40))
			radius := []float32{0, 0.3, 1}[rng.IntN(3)]
			row, at, ok := s.SweepBarrels(r, radius)
			if row2, at2, ok2 := placed.SweepBarrels(r, radius); row2 != row || at2 != at || ok2 != ok {
				t.Fatalf("%+v: %d after %v, %v; each barrel: %d after %v, %v", r, row2, at2, ok2, row, at, ok)
			}
			if ok {
				hits++
			}
			if _, ok := placed.gridStrip(r, s.BarrelKind.Radius+radius); ok {
				yards++
			}
		}
		if hits < 2000 || yards < 10000 {
			t.Fatalf("%d hits, %d by the yard: the cases prove little", hits, yards)
		}
	}
}

// A yard of other barrels is not used, nor is it for a path that cannot be.
func TestYardOfOthers(t *testing.T) {
	s, _ := yardOf(t, 40, 30)
	s.PlaceBarrels()
	r := geom.Ray{Dir: v3(1, 0, 0), Max: 1}
	if _, ok := s.gridStrip(r, 1); !ok {
		t.Error("the yard is not used")
	}
	r.Max = float32(1e30)
	if _, ok := s.gridStrip(r, 1); ok {
		t.Error("the yard is used for an endless path")
	}
	r.Max = 1
	s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(99), v3(1, -0.4, 0)))
	if _, ok := s.gridStrip(r, 1); ok {
		t.Error("the yard is used for a barrel that it does not know")
	}
	s.Barrels = s.Barrels[:10]
	if s.PlaceBarrels(); len(s.barrelGrid.rows) != 0 {
		t.Error("a yard of ten")
	}
}

// BenchmarkSweepBarrels is a projectile's path of a tick among 200 barrels.
func BenchmarkSweepBarrels(b *testing.B) {
	s, rng := yardOf(b, 200, 100)
	rays := make([]geom.Ray, 256)
	for i := range rays {
		rays[i] = sweepAt(rng, v3(between(rng, -100, 100), 1, between(rng, -100, 100)), 80./60)
	}
	for _, placed := range []bool{true, false} {
		name := "each"
		if s.barrelGrid.rows = nil; placed {
			name = "yard"
			s.PlaceBarrels()
		}
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				s.SweepBarrels(rays[i&255], 0.3)
				i++
			}
		})
	}
}
