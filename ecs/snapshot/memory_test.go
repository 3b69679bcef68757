package snapshot

import (
	"runtime"
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestMemoryOfAThousand: the frames and caches of 1000 rows, used in every way, with whatever one
// client's tracker takes 1000 times, stay below 64 MiB, and below what the package's documentation
// says.
func TestMemoryOfAThousand(t *testing.T) {
	const slots, clients = 1000, 1000
	m := schema.DefaultModel(playerSchema)
	w := newWorld(playerSchema, slots, 3, 0.9, 0.01, 0.01)
	measure := func(use func() any) uint64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept := use()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		return after.HeapAlloc - before.HeapAlloc
	}
	world := measure(func() any {
		ring, e := NewRing(playerSchema, slots, Window, 1), NewEncoder(m, slots)
		for now := tick.Tick(1); now <= 30; now++ {
			w.step()
			w.capture(ring.Begin(now))
			e.Begin(ring.At(now), ring)
			for back := tick.Tick(1); back < min(now, 13); back++ {
				base := Baselines{now - back}
				if now > 2*back+2 {
					base = Baselines{now - back, now - back - 1, now - back - 2}
				}
				e.whole(base)
				c := e.rows(base)
				for slot := range slots {
					e.row(c, slot)
				}
			}
		}
		return []any{ring, e}
	})
	tracker := measure(func() any {
		all := make([]*Tracker, 0, clients)
		for range clients {
			k := NewTracker(slots, 1)
			k.beginRows()
			all = append(all, k)
		}
		return all
	})
	f, bound := float64(len(playerSchema.Fields)), float64(MaxGroupBytes(m))
	wantWorld := uint64(slots * (Window*(4*f+4.25) + float64(maxBaselineSets)*(3*bound/16+4*f+13)))
	t.Logf("frames and blocks %.1f MiB (formula %.1f), trackers %.1f MiB", float64(world)/(1<<20), float64(wantWorld)/(1<<20), float64(tracker)/(1<<20))
	if world+tracker > 64<<20 || world > wantWorld*11/10 {
		t.Errorf("%d and %d bytes, formula %d", world, tracker, wantWorld)
	}
}
