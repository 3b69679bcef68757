package snapshot

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// sentSets is one snapshot in the history of the slow twin of omitUnchanged.
type sentSets struct {
	at            tick.Tick
	send, removed []uint64
	acked         bool
}

// sameSince is whether a row is the same in all frames from a tick on.
func sameSince(ring *Ring, slot int, from, now tick.Tick) bool {
	cur := ring.At(now)
	for t := from; t < now; t++ {
		f := ring.At(t)
		if f == nil || f.ID(slot) != cur.ID(slot) {
			return false
		}
		for i := range cur.fields {
			if f.Value(slot, i) != cur.Value(slot, i) {
				return false
			}
		}
	}
	return true
}

// omits is whether the twin leaves out a visible row, or the removal of one.
func omits(ring *Ring, history []sentSets, slot int, now, interval, acked tick.Tick, visible bool) bool {
	times := 0
	for i := len(history) - 1; i >= 0; i-- {
		s := history[i]
		age := int((now - s.at) / interval)
		if age > unchangedAge {
			return false
		}
		flies := s.at > acked && age <= inFlightAge
		switch sent, removed := has(s.send, slot), has(s.removed, slot); {
		case !visible && flies && removed:
			if times++; times == 2 {
				return true
			}
		case !visible && (sent || !flies), visible && removed:
			return false
		case visible && !sameSince(ring, slot, s.at, now):
			return false
		case visible && flies && sent:
			if times++; times == 2 {
				return true
			}
		case visible && !flies && sent && s.acked:
			return refreshAges>>age&1 == 0
		}
	}
	return false
}

// TestOmitUnchangedEqualsTwin: rows that a client holds as they are, or has twice on their way, are
// left out, and no others; over a link with loss, with rows that are hidden and come back.
func TestOmitUnchangedEqualsTwin(t *testing.T) {
	const slots, groups = 70, 5
	m := schema.DefaultModel(playerSchema)
	omitted, removals, sent := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		interval := tick.Tick(rapid.IntRange(1, 3).Draw(t, "interval"))
		loss := rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "loss")
		w := newWorld(playerSchema, slots, rng.Uint64(), 0.7, 0.01, 0.01)
		ring := NewRing(playerSchema, slots, Window*int(interval), 1)
		e, k := NewEncoder(m, slots), NewTracker(groups*GroupRows, interval)
		k.SingleBaseline()
		sees, picks := newSomeSlots(rng, slots, 0.9, 0.01), newSomeSlots(rng, slots, 0.5, 0.3)
		cost := make([]uint16, (slots+63)/64*64)
		var p Packer
		var history []sentSets
		now, acked := tick.Tick(0), tick.Tick(0)
		for n := range 120 {
			for range interval {
				if now++; n%20 < 3 { // a world that mostly stands still
					w.step()
				}
				w.capture(ring.Begin(now))
			}
			if rng.IntN(12) == 0 {
				continue // an interval without a snapshot
			}
			e.Begin(ring.At(now), ring)
			k.Advance(now)
			see := sees.next()
			p.BeginSelect(e, k, see)
			send := append([]uint64(nil), p.rows.send...)
			remove := append([]uint64(nil), p.rows.remove...)
			p.BeginChanged(e, k, see, acked)
			for slot := range slots {
				switch {
				case has(send, slot):
					want := omits(ring, history, slot, now, interval, acked, true)
					if has(p.Unchanged(), slot) != want || has(p.Planned(), slot) == want {
						t.Fatalf("tick %d, slot %d: left out is %v, of the twin %v", now, slot, !want, want)
					}
					if omitted += 1; !want {
						omitted, sent = omitted-1, sent+1
					}
				case has(remove, slot):
					want := omits(ring, history, slot, now, interval, acked, false)
					if has(p.rows.remove, slot) == want {
						t.Fatalf("tick %d, slot %d: removal left out is %v", now, slot, !want)
					}
					if want {
						removals++
					}
				}
			}
			p.Weigh(p.Planned(), cost)
			p.Select(picks.next())
			s := sentSets{at: now, send: append([]uint64(nil), p.rows.send...),
				removed: append([]uint64(nil), p.rows.remove...)}
			for !p.Done() {
				p.Next(nil, RunBytes+MaxGroupBytes(m)*groups)
			}
			history = append(history, s)
			if i := len(history) - 1 - rng.IntN(min(len(history), 5)); rng.Float64() >= loss && !history[i].acked {
				history[i].acked = true
				k.Acked(history[i].at, 0, groups)
				acked = max(acked, history[i].at)
			}
		}
	})
	if omitted < 1000 || sent < 1000 || removals < 20 {
		t.Errorf("%d rows and %d removals left out, %d rows sent: nothing tested", omitted, removals, sent)
	}
}
