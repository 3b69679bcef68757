package lagcomp

import (
	"fmt"
	"sync"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// field is a History of a large lobby, and sweeps through it: long ones, at many views.
func field(t testing.TB, players, ticks, each int) (*History, *slowHistory, []Sweep) {
	c := newCrowd(9, players, 250)
	h, slow := NewHistory(players, 128), newSlowHistory(128)
	var all []Sweep
	for now := tick.Tick(1); now <= tick.Tick(ticks); now++ {
		poses := c.step(1.0 / 60)
		h.Record(now, poses)
		slow.Record(now, poses)
	}
	for len(all) < each {
		w := c.shot(slow.At, h.Oldest(), h.Newest())
		w.Radius = []float32{0, 0.3, 1}[c.rng.IntN(3)]
		w.Ray.Max = c.between(30, 300)
		all = append(all, w)
	}
	return h, slow, all
}

// Long rays in a large lobby walk the grid square by square and give the hits of a brute-force
// test.
func TestRow49StripsAgainstEverybody(t *testing.T) {
	h, slow, sweeps := field(t, 1500, 90, 900)
	s := NewSweeper(h)
	s.buildIndexAfter(0)
	s.squareCost = 16 // so that small lobbies walk the grid too
	hits, strips := 0, 0
	for i := range sweeps {
		w := &sweeps[i]
		var got [1]Hit
		s.Cast(sweeps[i:i+1], got[:])
		if want := slow.castOne(w); got[0] != want {
			t.Fatalf("%+v: %+v, want %+v", *w, got[0], want)
		}
		if got[0].ID != 0 {
			hits++
		}
		if a, b := h.viewFrames(w.View); a != nil {
			var q boxQuery
			s.boxQuery(&q, a, b, w.View.Frac, geom.AABB{Min: w.Ray.Origin, Max: w.Ray.At(w.Ray.Max)},
				w.Radius)
			if ray, ok := NormalizeRay(w.Ray); ok && q.cellCount > maxBoxCells &&
				s.gridWalk(s.indexOf(a), ray, &q) {
				strips++
			}
		}
	}
	if hits < 100 || strips < 100 {
		t.Fatalf("%d hits, %d strips: the cases prove little", hits, strips)
	}
}

// Forks, several at once, hit what their sweeper hits, prepared or not.
func TestForksHitTheSame(t *testing.T) {
	h, _, sweeps := field(t, 800, 160, 400)
	for i := range sweeps { // half of them short, as projectiles fly
		if i%2 == 0 {
			sweeps[i].Ray.Max = 2
		}
	}
	want := make([]Hit, len(sweeps))
	NewSweeper(h).Cast(sweeps, want)
	for _, prepared := range []bool{true, false} {
		s := NewSweeper(h)
		s.buildIndexAfter(1)
		if prepared {
			for i := range sweeps {
				s.Prepare(sweeps[i].View)
			}
			s.Prepare(tick.View{})
		}
		got := make([]Hit, len(sweeps))
		var all sync.WaitGroup
		for part := range 4 {
			fork := s.Fork()
			from, to := part*len(sweeps)/4, (part+1)*len(sweeps)/4
			all.Go(func() { fork.Cast(sweeps[from:to], got[from:to]) })
		}
		all.Wait()
		hits := 0
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("prepared %v, sweep %d: %+v, want %+v", prepared, i, got[i], want[i])
			}
			if got[i].ID != 0 {
				hits++
			}
		}
		if hits < 50 {
			t.Fatalf("%d hits: the cases prove little", hits)
		}
	}
}

// BenchmarkStrip is a shot across the map, at all lobby sizes with the same room for each player:
// by grid squares, and by all rows.
func BenchmarkStrip(b *testing.B) {
	for _, players := range []int{500, 4000} {
		c := newCrowd(1, players, geom.Sqrt(float32(players))*4)
		h := NewHistory(players, 128)
		for now := tick.Tick(1); now <= 10; now++ {
			h.Record(now, c.step(1.0/60))
		}
		view := tick.View{From: 8, To: 9, Frac: 77}
		s := NewSweeper(h)
		s.buildIndexAfter(0)
		a, z := h.viewFrames(view)
		ray := geom.Ray{Origin: geom.Vec3{X: -30, Y: 1.6, Z: -20}, Dir: geom.Vec3{X: 0.8, Z: 0.6}, Max: 60}
		var q boxQuery
		s.boxQuery(&q, a, z, view.Frac, geom.AABB{Min: ray.Origin, Max: ray.At(ray.Max)}, 0)
		n := 0
		b.Run(fmt.Sprintf("players=%d/squares", players), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !s.gridWalk(s.indexOf(a), ray, &q) {
					b.Skip("so few players that the rows are less work")
				}
			}
		})
		b.Run(fmt.Sprintf("players=%d/rows", players), func(b *testing.B) {
			for b.Loop() {
				n += len(s.rayCandidates(&ray, a, q.reach))
			}
		})
	}
}
