package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestStoredNamesNoBaseline: whatever is acked, blocks and rows are told as they are, and nobody is
// left who is gone.
func TestStoredNamesNoBaseline(t *testing.T) {
	const slots = 100
	m := schema.DefaultModel(playerSchema).With(schema.Stored)
	w := newWorld(playerSchema, slots, 8, 0.7, 0.05, 0)
	ring, e, k, d := NewRing(playerSchema, slots, Window, 1), NewEncoder(m, slots), NewTracker(slots, 1), NewDecoder(m, slots, 1)
	var p Packer
	see := []uint64{^uint64(0), 0x5555}
	for now := tick.Tick(1); now <= 40; now++ {
		w.step()
		w.capture(ring.Begin(now))
		e.Begin(ring.At(now), ring)
		k.Advance(now)
		whole := now < 20
		if whole {
			p.Begin(e, k, 0, ring.Groups())
		} else {
			p.BeginRows(e, k, see)
		}
		for !p.Done() {
			out, first, count, _ := p.Next(nil, 1200)
			for src := out; len(src) > 0; src = nil {
				if run, _, err := ParseRun(src, now, 1); err != nil || run.Baselines != (Baselines{}) {
					t.Fatalf("tick %d: run %+v, %v", now, run, err)
				}
			}
			if err := d.Section(now, out); err != nil {
				t.Fatal(err)
			}
			k.Acked(now, first, count)
		}
		for slot := range slots {
			if f := d.At(now); f.HasRow(slot) && (whole || has(see, slot)) && f.ID(slot) != ring.At(now).ID(slot) {
				t.Fatalf("tick %d: %v in slot %d, want %v", now, f.ID(slot), slot, ring.At(now).ID(slot))
			}
		}
	}
}
