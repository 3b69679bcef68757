package snapshot

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// word is what one datagram of a snapshot said of one slot: who is there, 0 for nobody.
type word struct {
	at    tick.Tick
	slot  int
	id    netid.ID
	gone  bool // it said so expressly, row by row
	acked bool
}

// slowWords remembers all that was said.
type slowWords []word

func (s slowWords) counts(w word, now, interval tick.Tick) bool {
	return (w.acked || w.gone) && now/interval-w.at/interval < Window
}

func (s slowWords) shown(id netid.ID, now, interval tick.Tick) (newest tick.Tick) {
	for _, w := range s {
		if w.slot == id.Index() && w.id == id && s.counts(w, now, interval) {
			newest = max(newest, w.at)
		}
	}
	return newest
}

func (s slowWords) saw(id netid.ID, v tick.View, now, interval tick.Tick) bool {
	var before, after *word
	for i, w := range s {
		if w.slot != id.Index() || !s.counts(w, now, interval) {
			continue
		}
		if w.at <= v.From && (before == nil || w.at > before.at) {
			before = &s[i]
		}
		if w.at > v.From && w.id == id {
			after = &s[i]
		}
	}
	return before != nil && before.id == id || before == nil && after != nil
}

// TestSawEqualsTwin: the players that a client is taken to have shown are those that the acked
// words of its snapshots showed, in blocks and row by row, with losses, slots that change hands,
// and clients that begin anew.
func TestSawEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 3))
		const slots, interval = 70, 3
		w := newWorld(playerSchema, slots, seed, 0.7, 0.02, 0)
		ring, e, k := NewRing(playerSchema, slots, Window*interval+1, 1), NewEncoder(schema.Train(playerSchema, schema.NewCounts(playerSchema)), slots), NewTracker(slots, interval)
		d := NewDecoder(schema.Train(playerSchema, schema.NewCounts(playerSchema)), slots, interval)
		var p Packer
		var sums Checksums
		var twin slowWords
		byRow := rapid.Bool().Draw(t, "by row")
		now := tick.Tick(0)
		for range rapid.IntRange(1, 90).Draw(t, "snapshots") {
			for range interval {
				now++
				w.step()
				w.capture(ring.Begin(now))
			}
			if rng.IntN(40) == 0 {
				k.Forget()
				twin = twin[:0]
			}
			e.Begin(ring.At(now), ring)
			sums.Begin(ring.At(now))
			k.Advance(now)
			if byRow {
				p.BeginRows(e, k, []uint64{rng.Uint64() | rng.Uint64(), rng.Uint64()})
			} else {
				p.Begin(e, k, 0, (slots+15)/16)
			}
			for !p.Done() {
				out, first, count, _ := p.Next(nil, 700)
				before := len(twin)
				sum := p.Sum(&sums, first, count)
				lost := rng.IntN(4) == 0
				for slot := first * GroupRows; slot < (first+count)*GroupRows; slot++ {
					id := ring.At(now).ID(slot)
					said, gone := true, false
					if byRow {
						i, bit := slot>>6, uint64(1)<<(slot&63)
						row := k.row(now)
						gone = k.rows.hasRemoved>>row&1 != 0 && k.rows.removed(row)[i]&bit != 0
						said = p.SentRows(nil)[i]&bit != 0
						if gone {
							id = 0
						}
					}
					if said {
						twin = append(twin, word{now, slot, id, gone, !lost})
					}
				}
				if lost {
					continue
				}
				if err := d.CheckedSection(now, out, sum+1); err != ErrSum || d.At(now) != nil && holds(d.At(now), twin[before:]) {
					t.Fatalf("tick %d: a wrong checksum gives %v, or left a trace", now, err)
				}
				if err := d.CheckedSection(now, out, sum); err != nil {
					t.Fatalf("tick %d, groups %d+%d: %v", now, first, count, err)
				}
				k.Acked(now, first, count)
			}
			for range 8 {
				slot := rng.IntN(slots)
				at := now - min(now-1, tick.Tick(rng.IntN(interval*20)))
				id := ring.At(at).ID(slot)
				if id == 0 {
					continue
				}
				from := now - min(now-interval, interval*tick.Tick(rng.IntN(Window)))
				v := tick.View{From: from, To: from + interval*tick.Tick(rng.IntN(3))}
				if got, want := k.NewestAcked(ring, id), twin.shown(id, now, interval); got != want {
					t.Fatalf("tick %d: %v was shown last in %d, by the twin in %d", now, id, got, want)
				}
				if got, want := k.SawInView(ring, id, v), twin.saw(id, v, now, interval); got != want {
					t.Fatalf("tick %d: %v seen in %v: %v, by the twin %v", now, id, v, got, want)
				}
			}
		}
	})
}

// holds reports whether a frame has a row for any slot that the words declare occupied.
func holds(f *Frame, words []word) bool {
	for _, w := range words {
		if w.id != 0 && f.HasRow(w.slot) {
			return true
		}
	}
	return false
}

// TestNobodyStaysBehindBlocks: over a bad link, a client alternates between all players in blocks
// and a part of them row by row. Once a few packets in a row have arrived, it shows no player that
// it does not see or that has left.
func TestNobodyStaysBehindBlocks(t *testing.T) {
	const slots = 100
	m := schema.DefaultModel(playerSchema)
	blocks := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		w := newWorld(playerSchema, slots, rng.Uint64(), 0.7, 0.02, 0.03)
		ring := NewRing(playerSchema, slots, Window, 1)
		groups := (slots + GroupRows - 1) / GroupRows
		e, k, d := NewEncoder(m, slots), NewTracker(groups*GroupRows, 1), NewDecoder(m, slots, 1)
		if rapid.Bool().Draw(t, "accounts") {
			k.Reserve()
		}
		sees := newSomeSlots(rng, slots, 0.6, 0.1)
		full := []uint64{^uint64(0), ^uint64(0)}
		var p Packer
		var shows [slots]netid.ID
		var late []tick.Tick
		loss, calm := 0.5, 0
		for now := tick.Tick(1); now < 150; now++ {
			if calm--; calm < -10 && rng.IntN(12) == 0 {
				calm = 6
			}
			w.step()
			w.capture(ring.Begin(now))
			e.Begin(ring.At(now), ring)
			k.Advance(now)
			see := full
			if now%30 > 12 || calm > 0 {
				see = sees.next()
			}
			if &see[0] == &full[0] && p.BeginWithin(e, k, 0, groups, 1<<30) {
				blocks++
			} else {
				p.BeginRows(e, k, see)
			}
			for !p.Done() {
				got, first, count, _ := p.Next(nil, 1<<16)
				if calm <= 0 && rng.Float64() < loss || d.Section(now, got) != nil {
					continue
				}
				f := d.At(now)
				for slot := first * GroupRows; slot < min(slots, (first+count)*GroupRows); slot++ {
					if f.HasRow(slot) {
						shows[slot] = f.ID(slot)
					}
				}
				if calm > 0 || rng.IntN(2) == 0 {
					k.Acked(now, first, count)
				} else {
					late = append(late, now)
				}
			}
			if len(late) > 0 && rng.IntN(3) == 0 { // what arrived is acknowledged late
				k.Acked(late[0], 0, groups)
				late = late[1:]
			}
			if calm != 1 {
				continue
			}
			for slot, id := range shows {
				if id != 0 && (!has(see, slot) || ring.At(now).ID(slot) != id) {
					t.Fatalf("tick %d: slot %d shows %v, which is seen: %v; there is %v", now, slot, id, has(see, slot), ring.At(now).ID(slot))
				}
			}
		}
	})
	if blocks < 100 {
		t.Errorf("only %d snapshots in blocks", blocks)
	}
}
