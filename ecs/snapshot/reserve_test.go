package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestGrowthReachesAllCaches: when the frames outgrow what Reserve was told, the next snapshot makes
// room in all caches. Sets of baselines that differ only ticks later, as after loss, then allocate
// nothing.
func TestGrowthReachesAllCaches(t *testing.T) {
	const slots, clients = 16 * GroupRows, 3
	w := newWorld(playerSchema, slots, 7, 0.9, 0.01, 0.01)
	ring, e := NewRing(playerSchema, slots, Window, 1), NewEncoder(schema.DefaultModel(playerSchema), slots)
	e.Reserve(clients, GroupRows)
	e.ReserveRows()
	const now = tick.Tick(6)
	for at := tick.Tick(1); at <= now; at++ {
		w.step()
		w.capture(ring.Begin(at))
	}
	sets := 0
	n := testing.AllocsPerRun(1, func() { // the first run, with one set, does not count
		sets = 1 + clients*min(sets, 1)
		e.Begin(ring.At(now), ring)
		for back := range tick.Tick(sets) {
			base := Baselines{now - 1 - back}
			e.whole(base)
			c := e.rows(base)
			for slot := range slots {
				if id := ring.At(now).ID(slot); id != 0 && ring.At(base[0]).ID(slot) == id {
					e.row(c, slot)
				}
			}
		}
	})
	if n != 0 || sets != 1+clients || e.used != sets {
		t.Errorf("%d sets of baselines after a snapshot of one: %v allocations", sets, n)
	}
}
