package snapshot

import (
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// TestPartsByTurns: clients that are sent each half of the groups by turns, and a few rows always,
// decode what was sent, each row in two snapshots at most. Halves go as blocks with three
// baselines, equal to those coded one by one; packing them allocates nothing.
func TestPartsByTurns(t *testing.T) {
	const slots, interval, lag = 400, 3, 1 // acks arrive within the snapshot after the next
	m := schema.DefaultModel(playerSchema)
	w := newWorld(playerSchema, slots, 4, 0.9, 0.02, 0)
	ring, e := NewRing(playerSchema, slots, Window*interval, 1), NewEncoder(m, slots)
	d, k := NewDecoder(m, slots, interval), NewTracker(slots, interval)
	var p Packer
	picked := make([]uint64, (slots+63)/64)
	for slot := 3; slot < slots; slot += 19 {
		picked[slot>>6] |= 1 << (slot & 63)
	}
	last, deep, together := make([]int, slots), 0, 0
	type sent struct {
		t            tick.Tick
		first, count int
	}
	var acks []sent
	for n := range 40 {
		now := tick.Tick(interval * (n + 1))
		w.step()
		frame := ring.Begin(now)
		w.capture(frame)
		e.Begin(frame, ring)
		for len(acks) > 0 && acks[0].t+lag*interval <= now {
			k.Acked(acks[0].t, acks[0].first, acks[0].count)
			acks = acks[1:]
		}
		k.Advance(now)
		groups := ring.Groups()
		part := Part{Picked: picked, First: n % 2 * groups / 2, End: (n%2 + 1) * groups / 2, Spacing: 2}
		if n%9 == 8 {
			begin := func() { p.BeginPart(e, k, &part) }
			if begin(); alloctest.In(5, begin) != 0 {
				t.Error("BeginPart allocates")
			}
		}
		p.BeginPart(e, k, &part)
		if len(p.rows.bases) == 1 && len(p.rows.entries) > 0 { // as the search for each row finds it
			entries, base := slices.Clone(p.rows.entries), p.rows.bases[0].baselines
			p.rows.bases, p.rows.age = p.rows.bases[:0], 0
			p.resolveBaselines()
			if !slices.Equal(p.rows.entries, entries) || p.rows.bases[0].baselines != base {
				t.Fatalf("snapshot %d: one baseline for all rows, %d, is none of each", n, base)
			}
			together++
		}
		for _, run := range p.runs {
			if n > 9 && run.Baselines[2] != 0 && run.Baselines[0]-run.Baselines[1] == 2*interval {
				deep += run.Count
			}
		}
		for !p.Done() {
			out, first, count, _ := p.Next(nil, 1200)
			if err := d.Section(now, out); err != nil {
				t.Fatal(err)
			}
			acks = append(acks, sent{now, first, count})
		}
		got := d.At(now)
		for slot := range slots {
			g := slot / GroupRows
			if part.First <= g && g < part.End || has(picked, slot) {
				if last[slot] = n; frame.ID(slot) != 0 && !got.HasRow(slot) || got.ID(slot) != frame.ID(slot) {
					t.Fatalf("snapshot %d: slot %d has %v, want %v", n, slot, got.ID(slot), frame.ID(slot))
				}
				for f := range playerSchema.Fields {
					if got.ID(slot) != 0 && got.Value(slot, f) != frame.Value(slot, f) {
						t.Fatalf("snapshot %d: slot %d, field %d differs", n, slot, f)
					}
				}
			} else if n-last[slot] >= 2 {
				t.Fatalf("snapshot %d: slot %d was sent in snapshot %d", n, slot, last[slot])
			}
		}
		for g := part.First; g < part.End; g++ { // what the part's order made is what one block is
			base := k.runs(nil, g, g+1, k.spacedStep(2))[0].Baselines
			if in := e.Group(g, base); string(in) != string(newEncoderAt(m, slots, frame, ring).Group(g, base)) && len(in) > 1 {
				t.Fatalf("snapshot %d: block %d differs in order", n, g)
			}
		}
	}
	if deep < 200 || together < 5 {
		t.Errorf("%d groups with three baselines, %d snapshots with one baseline for all rows", deep, together)
	}
}

// newEncoderAt is a fresh encoder at a frame.
func newEncoderAt(m *schema.Model, slots int, f *Frame, r *Ring) *Encoder {
	e := NewEncoder(m, slots)
	e.Begin(f, r)
	return e
}
