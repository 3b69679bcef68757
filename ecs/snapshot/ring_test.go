package snapshot

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// A frame that follows the one before is empty like any other: slots that come to be and go,
// against any baseline, code to the same bytes.
func TestFollowCodesTheSame(t *testing.T) {
	const slots, ticks = 5 * GroupRows, 300
	m := schema.DefaultModel(playerSchema)
	begun, followed := NewRing(playerSchema, slots, Window, 1), NewRing(playerSchema, slots, Window, 1)
	a, b := NewEncoder(m, slots), NewEncoder(m, slots)
	rng := rand.New(rand.NewPCG(7, 7))
	row := make([]int32, len(playerSchema.Fields))
	generation := make([]uint8, slots)
	for now := tick.Tick(1); now <= ticks; now++ {
		f, g := begun.Begin(now), followed.BeginCopy(now)
		there := 0
		for slot := range slots {
			if rng.IntN(40) == 0 {
				generation[slot] = (generation[slot] + 1) % 4 // 0 is nobody
			}
			if generation[slot] == 0 {
				continue
			}
			for i := range row {
				row[i] = int32(slot*i) + rng.Int32N(2)
			}
			id := netid.Make(slot, generation[slot])
			f.Set(slot, id, row)
			g.Set(slot, id, row)
			there++
		}
		if f.Len() != there || g.Len() != there {
			t.Fatalf("tick %d: %d and %d there, want %d", now, f.Len(), g.Len(), there)
		}
		a.Begin(f, begun)
		b.Begin(g, followed)
		for _, base := range []Baselines{{}, {now - min(now, 3)}, {now - min(now, 20)}} {
			for n := range begun.Groups() {
				if !f.GroupEqual(g, n) || !bytes.Equal(a.Group(n, base), b.Group(n, base)) {
					t.Fatalf("tick %d: group %d is another against %v", now, n, base)
				}
			}
		}
	}
}

// A ring that grows holds what one holds that has all of its memory from the start.
func TestGrowingRingHoldsTheSame(t *testing.T) {
	const slots, frames = 64, 4
	all, grows := NewRing(playerSchema, slots, frames, 1), NewGrowingRing(playerSchema, 16, slots, frames, 1)
	rng := rand.New(rand.NewPCG(5, 7))
	row, other := make([]int32, len(playerSchema.Fields)), make([]int32, len(playerSchema.Fields))
	for at := tick.Tick(1); at < 50; at++ {
		f, g := all.BeginCopy(at), grows.BeginCopy(at)
		for range 8 {
			slot := rng.IntN(min(int(at)*4, slots))
			for i := range row {
				row[i] = rng.Int32N(2)
			}
			f.Set(slot, netid.Make(slot, 1), row)
			g.Set(slot, netid.Make(slot, 1), row)
		}
		for back := range min(at, frames) {
			f, g := all.At(at-back), grows.At(at-back)
			for slot := range slots {
				if f.Row(slot, row) != g.Row(slot, other) || !slices.Equal(row, other) {
					t.Fatalf("tick %d, slot %d: %v in a ring that grows, expected %v", at-back, slot, other, row)
				}
			}
			for group := range slots / GroupRows {
				was, is := all.At(at).GroupEqual(f, group), grows.At(at).GroupEqual(g, group)
				if was != is {
					t.Fatalf("tick %d, group %d: equal is %v, expected %v", at-back, group, is, was)
				}
			}
		}
	}
}
