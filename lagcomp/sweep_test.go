package lagcomp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

func (h *slowHistory) slowWithin(v tick.View, ball geom.Sphere) (out []SphereOverlap) {
	for slot := range h.poses[v.From] {
		if p, ok := h.At(v, slot); ok && p.Alive() && TestSphere(rig.HeroBodies, ball, &p) {
			out = append(out, SphereOverlap{slot, p})
		}
	}
	return out
}

// buildIndexAfter makes s build an index for any number of rows after the given number of queries.
func (s *Sweeper) buildIndexAfter(patience int) {
	s.indexAfter, s.indexMinRows = patience, 0
	s.makeIndexes()
}

// TestRow49SweepsAgainstEverybody compares flying spheres and balls, short and long, with the slow
// twin, in a lobby that dies, teleports and leaves the world, over ticks that fall out of the ring.
func TestRow49SweepsAgainstEverybody(t *testing.T) {
	hits, touched := 0, 0
	for round := range 6 {
		extent := []float32{12, 60, 400}[round%3]
		c := newCrowd(uint64(round), 150, extent)
		h, slow := NewHistory(150, 128), newSlowHistory(128)
		s := NewSweeper(h)
		s.buildIndexAfter([]int{0, 1 << 30}[round/3]) // with indexes, and row by row
		for now := tick.Tick(1); now <= 300; now++ {
			poses := c.step(1.0 / 60)
			h.Record(now, poses)
			slow.Record(now, poses)
			if now < 5 {
				continue
			}
			for range 12 {
				w := c.shot(slow.At, h.Oldest(), now)
				w.Radius = []float32{0, 0.2, 0.3, 1, 9}[c.rng.IntN(5)]
				if c.rng.IntN(3) > 0 {
					w.Ray.Max = c.between(0, 3)
				}
				if c.rng.IntN(100) == 0 {
					w.Radius = []float32{-1, 11, float32(math.NaN())}[c.rng.IntN(3)]
				}
				var got [1]Hit
				s.Cast([]Sweep{w}, got[:])
				if want := slow.castOne(&w); got[0] != want {
					t.Fatalf("round %d tick %d: %+v: %+v, want %+v", round, now, w, got[0], want)
				}
				if got[0].ID != 0 {
					hits++
				}
				p, _ := slow.At(w.View, c.rng.IntN(150))
				ball := geom.Sphere{Center: p.Pos.Add(geom.Vec3{X: c.between(-4, 4), Y: c.between(-2, 3),
					Z: c.between(-4, 4)}), Radius: c.between(0, 10)}
				near := s.OverlapSphere(w.View, ball, nil)
				want := slow.slowWithin(w.View, ball)
				if !inWorld(ball.Center) {
					want = nil
				}
				if len(near) != len(want) {
					t.Fatalf("round %d tick %d: %d within %+v, want %d", round, now, len(near), ball,
						len(want))
				}
				for i := range near {
					if near[i] != want[i] {
						t.Fatalf("%+v, want %+v", near[i], want[i])
					}
				}
				touched += len(near)
			}
		}
	}
	if hits < 3000 || touched < 10000 {
		t.Fatalf("%d hits, %d touched: the cases prove little", hits, touched)
	}
}

// TestSphere agrees with a sweep that goes nowhere.
func TestTouchesIsASweepInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	c := newCrowd(4, 1, 3)
	both := 0
	for range 20000 {
		p := c.step(0.01)[0]
		if p.ID == 0 || geom.Abs(p.Pos.X) > 100 {
			continue
		}
		r := geom.Ray{Origin: p.Pos.Add(geom.Vec3{X: c.between(-3, 3), Y: c.between(-1, 3),
			Z: c.between(-3, 3)}), Max: 9}
		r.Dir = p.Pos.Add(geom.Vec3{X: c.between(-1, 1), Y: c.between(0, 2),
			Z: c.between(-1, 1)}).Sub(r.Origin).Normalize()
		radius := rng.Float32() * 2
		hit, ok := Test(rig.HeroBodies, geom.Ray{Origin: r.Origin, Dir: r.Dir}, radius, &p)
		grown, shrunk := geom.Sphere{Center: r.Origin, Radius: radius + 1e-3}, geom.Sphere{Center: r.Origin,
			Radius: radius - 1e-3}
		if hit.Distance == 0 && (ok && !TestSphere(rig.HeroBodies, grown, &p) || !ok && TestSphere(rig.HeroBodies, shrunk, &p)) {
			t.Fatalf("sweep in place %v, ball %v", ok, !ok)
		}
		if ok {
			both++
		}
	}
	if both < 1000 {
		t.Fatalf("%d touched", both)
	}
}

func TestDelay(t *testing.T) {
	h := NewHistory(1, 128)
	if v := h.DelayedView(5, 0); v != (tick.View{}) {
		t.Errorf("a view of nothing: %+v", v)
	}
	for now := tick.Tick(1); now <= 200; now++ {
		h.Record(now, nil)
	}
	for i, c := range []struct {
		fired tick.Tick
		view  tick.View
		now   tick.Tick
		delay uint16
		want  tick.View
	}{
		{100, tick.View{From: 90, To: 93, Frac: 128}, 110, 10*256 - 384, tick.View{From: 101, To: 102,
			Frac: 128}},
		{100, tick.View{From: 90, To: 90}, 190, 2560, tick.View{From: 180, To: 180}},
		{100, tick.View{}, 200, 0, tick.View{From: 200, To: 200}},
		{100, tick.View{From: 101, To: 101}, 250, 0, tick.View{From: 200, To: 200}},
		{1000, tick.View{From: 1, To: 1}, 1001, MaxDelay, tick.View{From: 200, To: 200}},
		{200, tick.View{From: 1, To: 1}, 201, 199 * 256, tick.View{From: h.Oldest(), To: h.Oldest()}},
	} {
		d := Delay(c.fired, c.view)
		if got := h.DelayedView(c.now, d); d != c.delay || got != c.want {
			t.Errorf("%d: delay %d view %+v, want %d %+v", i, d, got, c.delay, c.want)
		}
	}
}

func TestSweeperAllocatesNothing(t *testing.T) {
	h, _, same, _ := fight(t)
	s := NewSweeper(h)
	sweeps, hits := shortWays(same), make([]Hit, 64)
	near := make([]SphereOverlap, 0, 1000)
	if n := alloctest.In(20, func() {
		s.Cast(sweeps, hits)
		near = s.OverlapSphere(same[0].View, geom.Sphere{Radius: 7}, near[:0])
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func shortWays(shots []Sweep) []Sweep {
	var sweeps []Sweep
	for _, w := range shots {
		w.Radius, w.View.To, w.Ray.Max = 0.3, w.View.From+1, 80./60
		sweeps = append(sweeps, w)
	}
	return sweeps
}

// BenchmarkSweep tests the paths of 64 projectiles in one tick among 1000 players: by grid squares
// and by a walk over all players.
func BenchmarkSweep(b *testing.B) {
	h, rival, _, distinct := fight(b)
	s, sweeps, hits := NewSweeper(h), shortWays(distinct), make([]Hit, 64)
	s.buildIndexAfter(0)
	for name, run := range map[string]func(){
		"squares": func() { s.Cast(sweeps, hits) },
		"plain":   func() { rival.Cast(sweeps, hits) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/sweep")
		})
	}
}

// BenchmarkIndex builds the grid of one tick of 1000 players.
func BenchmarkIndex(b *testing.B) {
	h, _, _, _ := fight(b)
	s := NewSweeper(h)
	b.ReportAllocs()
	for b.Loop() {
		s.indices[150%maxIndices].build(h.frame(150))
	}
}

// One batch has sweeps of ticks whose indices share a place (64 apart): each is answered from the index
// of its own tick.
func TestBatchOfTicksThatShareAnIndex(t *testing.T) {
	const players, ticks = 150, 256
	c := newCrowd(9, players, 30)
	h, slow := NewHistory(players, ticks), newSlowHistory(ticks)
	for now := tick.Tick(1); now <= 250; now++ {
		poses := c.step(1.0 / 60)
		h.Record(now, poses)
		slow.Record(now, poses)
	}
	s := NewSweeper(h)
	s.buildIndexAfter(0)
	sweeps, hits, hit := make([]Sweep, 48), make([]Hit, 48), 0
	for round := range 50 {
		for i := range sweeps {
			from := tick.Tick(20+c.rng.IntN(3)) + maxIndices*tick.Tick(c.rng.IntN(3))
			sweeps[i] = c.shot(slow.At, from, from+20)
			sweeps[i].View = tick.View{From: from, To: from + 6, Frac: sweeps[i].View.Frac}
			sweeps[i].Radius, sweeps[i].Ray.Max = 1, c.between(0, 3)
		}
		s.Cast(sweeps, hits)
		for i := range sweeps {
			if want := slow.castOne(&sweeps[i]); hits[i] != want {
				t.Fatalf("round %d, sweep %d at tick %d: %+v, want %+v", round, i, sweeps[i].View.From, hits[i], want)
			}
			if hits[i].ID != 0 {
				hit++
			}
		}
	}
	if hit < 100 {
		t.Fatalf("%d hits: the cases prove little", hit)
	}
}
