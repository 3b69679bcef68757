package interest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShortlistChangesNoSelection: a selection among a shortlist with costs beyond the budget is
// that among all rows, and a shortlist has the rows of the highest priorities.
func TestShortlistChangesNoSelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
		slots := rapid.SampledFrom([]int{5, 64, 200}).Draw(t, "slots")
		g, sc := NewGrid(Config{Slots: slots, Cell: 4, Wide: 9, Deep: 9, Near: 1, Mid: 3}), newScene(slots)
		all, short := NewClient(g), NewClient(g)
		cost, few := make([]uint16, g.Words()*64), make([]uint16, g.Words()*64)
		set := make([]uint64, g.Words())
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			sc.step(rng, 2, 36)
			g.Fill(sc.ids, sc.x, sc.z, sc.team, sc.combat)
			v := Viewer{Slot: rng.IntN(slots), X: rng.Float32() * 36, Z: rng.Float32() * 36, DirX: 1}
			all.Update(g, v, nil)
			short.Update(g, v, nil)
			for i := range cost {
				cost[i] = uint16(1 + rng.IntN(200))
			}
			count := 1 + rng.IntN(slots)
			short.Shortlist(set, short.Visible(), count)
			listed, total, lowest, highest := 0, 0, maxPriority+1, -1
			clear(few)
			for slot := range slots {
				switch p := short.Priority(slot); {
				case has(set, slot):
					few[slot] = cost[slot]
					lowest, listed, total = min(lowest, p), listed+1, total+int(cost[slot])
				case has(short.Visible(), slot):
					highest = max(highest, p)
				}
			}
			if highest >= lowest || listed < count && highest >= 0 {
				t.Fatalf("%d listed of %d, down to %d, others up to %d", listed, count, lowest, highest)
			}
			budget := rng.IntN(total + 1)
			if budget == total {
				budget--
			}
			if budget < 0 {
				continue
			}
			if a, b := all.Select(cost, budget), short.SelectAmong(set, few, budget); a != b ||
				!slices.Equal(all.Selected(), short.Selected()) || all.Threshold() != short.Threshold() {
				t.Fatalf("%d bits of all, %d of the shortlist; threshold %d and %d", a, b,
					all.Threshold(), short.Threshold())
			}
			all.MarkSent(all.Selected())
			short.MarkSent(short.Selected())
		}
	})
}
