package lagcomp

import (
	"math/bits"
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// against is best, or what w hits of a player in a slot as view v shows it, if that comes before
// it.
func (h *History) against(w *Sweep, slot int, v tick.View, best Hit) Hit {
	a, b := h.viewFrames(v)
	ray, ok := NormalizeRay(w.Ray)
	if a == nil || !ok {
		return best
	}
	q := narrowQuery{ray: ray, radius: w.Radius, a: a, b: b, frac: v.Frac, except: w.Except, spare: w.Spare}
	if _, ok := q.boundTest(slot); ok {
		q.test(slot, &best, nil)
	}
	return best
}

// SlotsNear lists every player that any view hits, however far back, in lobbies with teleports,
// deaths, spawns, leaves and joins.
func TestSlotsNearHasEveryHit(t *testing.T) {
	hits, known, named, asked := 0, 0, 0, 0
	for round := range 6 {
		const slots = 150
		c := newCrowd(uint64(round)+70, slots, []float32{30, 60, 300}[round%3])
		h := NewHistory(slots, 128)
		s := NewSweeper(h)
		for now := tick.Tick(1); now <= 400; now++ {
			h.Record(now, c.step(1.0/60))
			for range 6 {
				w := c.shot(h.At, h.Oldest(), now)
				w.Radius, w.View = []float32{0, 0.3, 2}[c.rng.IntN(3)], tick.View{}
				near, ok := s.SlotsNear(&w)
				if !ok {
					continue
				}
				known++
				for slot := range slots {
					from := h.Oldest() + tick.Tick(c.rng.IntN(int(now-h.Oldest())+1))
					v := tick.View{From: from, Frac: uint8(c.rng.Uint32()),
						To: from + tick.Tick(c.rng.IntN(int(min(now-from, NearSpan))+1))}
					if v.From == v.To {
						v.Frac = 0
					}
					asked++
					in := near[slot>>6]>>(slot&63)&1 != 0
					if in {
						named++
					}
					if h.against(&w, slot, v, Hit{}).ID == 0 {
						continue
					}
					if hits++; !in {
						t.Fatalf("tick %d: slot %d is hit at %+v by %+v and was not named", now, slot, v, w)
					}
				}
			}
		}
	}
	if hits < 3000 || known < 5000 || named > asked*3/4 {
		t.Errorf("%d hits of %d sweeps, %d of %d named: the cases prove little", hits, known, named, asked)
	}
}

// What cannot be known is said to be so.
func TestSlotsNearKnowsItsLimits(t *testing.T) {
	h, _, same, _ := fight(t)
	s := NewSweeper(h)
	w := Sweep{Ray: same[0].Ray}
	if _, ok := s.SlotsNear(&w); !ok {
		t.Error("a ray is not known")
	}
	if n := alloctest.In(20, func() { s.SlotsNear(&w) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, ok := s.Fork().SlotsNear(&w); ok {
		t.Error("a fork knows")
	}
	w.Radius = MaxSweepRadius + 1
	if _, ok := s.SlotsNear(&w); ok {
		t.Error("a sweep of no use is known")
	}
	w.Radius = 0
	if _, ok := NewSweeper(NewHistory(4, 128)).SlotsNear(&w); ok {
		t.Error("an empty history is known")
	}
	gap := NewHistory(4, 128) // the history lacks ticks
	gap.Record(1, nil)
	gap.Record(400, nil)
	if _, ok := NewSweeper(gap).SlotsNear(&w); ok {
		t.Error("a history with a gap is known")
	}
}

// march is a second of 1000 players on 200 x 200 m that walk straight on; one of them respawns per
// tick.
func march() *History {
	const players = 1000
	c := newCrowd(3, players, 100)
	h := NewHistory(players, 128)
	for now := tick.Tick(1); now <= 200; now++ {
		c.spawn(int(now) * 7 % players)
		for i := range c.poses {
			c.poses[i].Pos = c.poses[i].Pos.Mad(c.vel[i], 1./128)
		}
		h.Record(now, c.poses)
	}
	return h
}

// BenchmarkEachSeenApart judges a thousand shots of one tick whose shooters saw each of 1000
// players at a view of that player's own, within 24 ticks, and none of them as the shot's view
// says: by trying all, and by trying those that SlotsNear names. "one-view" is Sweeper.Cast of the
// same shots, for which there is but one view each.
func BenchmarkEachSeenApart(b *testing.B) {
	const players, shooters, span = 1000, 1000, 24
	h := march()
	s := NewSweeper(h)
	sweeps, hits := make([]Sweep, shooters), make([]Hit, shooters)
	now := h.Newest()
	for i := range sweeps {
		sweeps[i] = h.fire(i, tick.View{From: now - 12, To: now - 9, Frac: uint8(i)})
	}
	// As a lobby has it at hand when it asks; where it keeps it is not measured.
	seen := func(i, slot int) tick.View {
		from := now - span + tick.Tick(uint32(i*7+slot*11)%(span-8))
		return tick.View{From: from, To: from + 2 + tick.Tick(uint32(i+slot)%6), Frac: uint8(i*3 + slot)}
	}
	all := func(i int) (best Hit) {
		for slot := range players {
			best = h.against(&sweeps[i], slot, seen(i, slot), best)
		}
		return best
	}
	tried := 0
	some := func(i int) (best Hit) {
		near, ok := s.SlotsNear(&sweeps[i])
		if !ok {
			return all(i)
		}
		for w, word := range near {
			for ; word != 0; word &= word - 1 {
				slot := w<<6 | bits.TrailingZeros64(word)
				best = h.against(&sweeps[i], slot, seen(i, slot), best)
				tried++
			}
		}
		return best
	}
	found := 0
	for i := range sweeps {
		want, got := all(i), some(i)
		if want != got {
			b.Fatalf("shot %d: %+v, want %+v", i, got, want)
		}
		if got.ID != 0 {
			found++
		}
	}
	if found < shooters/2 {
		b.Fatalf("only %d shots hit", found)
	}
	b.Run("all", func(b *testing.B) {
		loop(b, shooters, "shot", func() {
			for i := range sweeps {
				hits[i] = all(i)
			}
		})
	})
	b.Run("near", func(b *testing.B) {
		tried = 0
		loop(b, shooters, "shot", func() {
			for i := range s.reach.spans { // more than a tick measures
				s.reach.spans[i].to = 0
			}
			for i := range sweeps {
				hits[i] = some(i)
			}
		})
		b.ReportMetric(float64(tried)/float64(b.N*shooters), "rows/shot")
	})
	b.Run("one-view", func(b *testing.B) { loop(b, shooters, "shot", func() { s.Cast(sweeps, hits) }) })
}
