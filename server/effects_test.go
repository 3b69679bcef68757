package server

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/effect"
)

// The queue of a client drops, forgets and orders the effects that a plain reading of the rules does.
func TestEffectQueue(t *testing.T) {
	const rate = 60
	rng := rand.New(rand.NewPCG(1, 2))
	s := effects{life: effect.Life(rate), log: make([]loggedEffect, 64), reach: make([]effectReach, 64), of: make([]connEffects, 1)}
	q, dropped, forgotten, chosen := &s.of[0], 0, 0, 0
	c := &connReplication{}
	for now := tick.Tick(1); now < 70000; now++ {
		for range rng.IntN(5) * rng.IntN(3) {
			s.put(now)
			q.add(queuedEffect{number: s.added - 1, rank: rng.Uint32N(8)})
		}
		s.forgetOld(now)
		if now%3 != 0 {
			continue
		}
		want := slowExpire(&s, q, now)
		dropped += len(q.queue) - len(want)
		if s.expire(q); !slices.Equal(q.queue, want) {
			t.Fatalf("tick %d: kept %+v, expected %+v", now, q.queue, want)
		}
		order := s.order(q, now)
		for _, place := range slowOrder(&s, q, now) {
			if got := order.next(); got != place {
				t.Fatalf("tick %d: place %d is next, expected %d of %+v", now, got, place, q.queue)
			}
			if e := &q.queue[place]; rng.IntN(3) == 0 {
				if chosen++; e.sends == 0 {
					e.id, q.id = q.id, q.id+1
				}
				e.tell(now)
			}
		}
		if order.next() >= 0 {
			t.Fatalf("tick %d: more effects than wait", now)
		}
		if at := now - 3*tick.Tick(rng.IntN(4)); at <= now {
			want = slices.DeleteFunc(slices.Clone(q.queue), func(e queuedEffect) bool {
				return slices.Contains(e.sentIn[:e.sends], uint16(at))
			})
			forgotten += len(q.queue) - len(want)
			if s.acked(c, at); !slices.Equal(q.queue, want) {
				t.Fatalf("tick %d: an ack of %d left %+v, expected %+v", now, at, q.queue, want)
			}
		}
	}
	if dropped < 1000 || forgotten < 1000 || chosen < 1000 {
		t.Errorf("%d effects dropped, %d acknowledged, %d told: expected many", dropped, forgotten, chosen)
	}
}

// slowExpire is what expire keeps.
func slowExpire(s *effects, q *connEffects, now tick.Tick) (kept []queuedEffect) {
	for _, e := range q.queue {
		if s.added-e.number > uint32(len(s.log)) {
			continue
		}
		age, most := now-s.at(e.number).Tick, s.life
		if e.sends > 0 {
			most = s.life * effect.LifeParts / repeatParts
		}
		if age <= most && e.sends < maxEffectSends && (e.sends == 0 || q.id-e.id < effect.IDWindow-maxEffectQueue) {
			kept = append(kept, e)
		}
	}
	return kept
}

// slowOrder is the places of the effects that may be told, first to last.
func slowOrder(s *effects, q *connEffects, now tick.Tick) (places []int) {
	for i, e := range q.queue {
		if e.sends == 0 || uint16(now)-e.sentIn[0] >= uint16(s.life*effect.LifeParts/spacingParts) {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int {
		x, y := &q.queue[a], &q.queue[b]
		if x.sends != y.sends {
			return int(x.sends) - int(y.sends)
		}
		return int(x.rank) - int(y.rank)
	})
	return places
}

// A full queue replaces the first of the effects with the highest rank.
func TestEffectQueueFull(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	q := connEffects{queue: make([]queuedEffect, 0, maxEffectQueue)}
	var want []queuedEffect
	for n := range uint32(1000) {
		e := queuedEffect{number: n, rank: 1000 - n + rng.Uint32N(100)}
		q.add(e)
		if len(want) < maxEffectQueue {
			want = append(want, e)
		} else {
			last := 0
			for i := range want {
				if want[i].rank > want[last].rank {
					last = i
				}
			}
			if e.rank < want[last].rank {
				want[last] = e
			}
		}
		if !slices.Equal(q.queue, want) {
			t.Fatalf("effect %d: %+v, expected %+v", n, q.queue, want)
		}
	}
}

// Damage is within reach of its victim alone.
func TestDamageReach(t *testing.T) {
	for _, from := range []geom.Vec3{{}, {X: 1e9}} {
		for _, most := range []float32{effect.Range, float32(1e38)} {
			if damageReach(7).pos.Sub(from).LenSq() <= most {
				t.Errorf("damage is within %v of %v", most, from)
			}
		}
	}
}
