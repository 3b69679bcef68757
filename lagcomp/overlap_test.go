package lagcomp

import (
	"math"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// slowOverlap tests all players for each zone in turn. It shares only the definition of a touch
// with Sweeper.
func (h *slowHistory) slowOverlap(zones []OverlapQuery) (out []OverlapHit) {
	for i, z := range zones {
		for slot := range h.poses[z.View.From] {
			p, ok := h.At(z.View, slot)
			if !ok || p.Flags&1 != 0 || p.ID == z.Except || z.Spare.Has(uint8(p.Flags>>1&3)) {
				continue
			}
			if bone, metres, ok := TestCapsule(rig.HeroBodies, z.Capsule, &p); ok {
				out = append(out, OverlapHit{i, slot, p.ID, bone, metres, p})
			}
		}
	}
	return out
}

// TestRow49ZonesAgainstEverybody compares batches of blades and blasts, each at a view of its own,
// with the slow twin.
func TestRow49ZonesAgainstEverybody(t *testing.T) {
	touched, wide := 0, 0
	for round, extent := range []float32{8, 40, 300, 8, 40, 300} {
		c := newCrowd(uint64(round)+40, 150, extent)
		h, slow := NewHistory(150, 128), newSlowHistory(128)
		s := NewSweeper(h)
		s.buildIndexAfter([]int{0, 1 << 30}[round/3]) // with indexes, and row by row
		for now := tick.Tick(1); now <= 260; now++ {
			poses := c.step(1.0 / 60)
			h.Record(now, poses)
			slow.Record(now, poses)
			if now < 5 || now%4 != 0 {
				continue
			}
			zones := make([]OverlapQuery, 24)
			for i := range zones {
				v := c.view(h.Oldest(), now)
				p, _ := slow.At(v, c.rng.IntN(150))
				at := p.Pos.Add(geom.Vec3{X: c.between(-2, 2), Y: c.between(-1, 3), Z: c.between(-2, 2)})
				z := OverlapQuery{View: v, Except: uint32(c.rng.IntN(int(c.nextID))),
					Spare: []Teams{1, 2 | 8, 0}[i%3]}
				z.Capsule = geom.Capsule{A: at, B: at, Radius: c.between(0, 9)}
				if i%2 == 0 { // a blade
					z.Capsule.B, z.Capsule.Radius = at.Add(geom.Vec3{X: c.between(-3, 3),
						Y: c.between(-1, 1), Z: c.between(-3, 3)}), c.between(0, 0.5)
				}
				switch c.rng.IntN(60) {
				case 0:
					z.Capsule.Radius = []float32{-1, MaxSweepRadius + 1, float32(math.NaN()),
						float32(math.Inf(1))}[c.rng.IntN(4)]
				case 1:
					z.Capsule.B.X = []float32{float32(math.NaN()), 1e30, 9000}[c.rng.IntN(3)]
				case 2:
					z.Capsule.Radius, wide = MaxSweepRadius-4, wide+1
				}
				zones[i] = z
			}
			got, want := s.Overlap(zones, nil), slow.slowOverlap(zones)
			if len(got) != len(want) {
				t.Fatalf("round %d tick %d: %d touched, want %d", round, now, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("round %d tick %d: %+v, want %+v, of %+v", round, now, got[i], want[i],
						zones[want[i].Query])
				}
			}
			touched += len(got)
		}
	}
	if touched < 5000 || wide < 20 {
		t.Fatalf("%d touched, %d wide zones: the cases prove little", touched, wide)
	}
}

// A zone of length 0 touches what TestSphere touches, and a zone along a ray what a sweep of its
// radius touches.
func TestRow49ZonesAreBallsAndSweeps(t *testing.T) {
	c := newCrowd(77, 1, 3)
	touched, hits := 0, 0
	for range 20000 {
		p := c.step(0.01)[0]
		if p.ID == 0 || geom.Abs(p.Pos.X) > 100 {
			continue
		}
		at := p.Pos.Add(geom.Vec3{X: c.between(-2, 2), Y: c.between(-1, 3), Z: c.between(-2, 2)})
		ball := geom.Sphere{Center: at, Radius: c.between(0, 2)}
		_, metres, ok := TestCapsule(rig.HeroBodies, geom.Capsule{A: at, B: at, Radius: ball.Radius}, &p)
		if ok != TestSphere(rig.HeroBodies, ball, &p) && geom.Abs(metres-ball.Radius) > 1e-3 {
			t.Fatalf("a ball touches %v, a zone %v", !ok, ok)
		}
		if ok {
			touched++
		}
		r := geom.Ray{Origin: at, Max: c.between(0.1, 4)}
		r.Dir = p.Pos.Add(geom.Vec3{X: c.between(-1, 1), Y: c.between(0, 2),
			Z: c.between(-1, 1)}).Sub(at).Normalize()
		radius := c.between(0, 0.4)
		_, hit := Test(rig.HeroBodies, r, radius, &p)
		_, metres, ok = TestCapsule(rig.HeroBodies, geom.Capsule{A: r.Origin, B: r.At(r.Max), Radius: radius}, &p)
		if hit != ok && geom.Abs(metres-radius) > 2e-3 {
			t.Fatalf("a sweep hits %v, its zone %v at %v of %v", hit, ok, metres, radius)
		}
		if hit {
			hits++
		}
	}
	if touched < 1000 || hits < 1000 {
		t.Fatalf("%d touched, %d hit", touched, hits)
	}
}

func TestOverlapAllocatesNothing(t *testing.T) {
	h, _, same, distinct := fight(t)
	s := NewSweeper(h)
	zones := make([]OverlapQuery, len(distinct))
	for i := range zones {
		at := distinct[len(zones)-1-i].Ray.Origin
		zones[i] = OverlapQuery{Capsule: geom.Capsule{A: at, B: at, Radius: 7}, View: distinct[i].View}
	}
	out := s.Overlap(zones, nil)
	if len(out) < 64 || same == nil {
		t.Fatalf("%d touched", len(out))
	}
	if n := alloctest.In(20, func() { out = s.Overlap(zones, out[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkOverlap judges 64 blasts of 7 m, each at a view of its own, among 1000 players, beside a
// walk over all of them with a ball test first.
func BenchmarkOverlap(b *testing.B) {
	h, rival, _, distinct := fight(b)
	s := NewSweeper(h)
	zones := make([]OverlapQuery, len(distinct))
	for i := range zones {
		at := distinct[i].Ray.Origin
		zones[i] = OverlapQuery{Capsule: geom.Capsule{A: at, B: at, Radius: 7}, View: distinct[i].View}
	}
	var out []OverlapHit
	if ours, plain := s.Overlap(zones, nil), rival.Overlap(zones, nil); !slices.Equal(ours, plain) {
		b.Fatalf("%d touched, by the rival %d", len(ours), len(plain))
	}
	b.Run("squares", func(b *testing.B) { loop(b, 64, "zone", func() { out = s.Overlap(zones, out[:0]) }) })
	b.Run("plain", func(b *testing.B) { loop(b, 64, "zone", func() { out = rival.Overlap(zones, out[:0]) }) })
}
