package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestBlocksArePinned: the format has no version of its own beside the hashes of schema and model,
// so the same rows must give the same bytes for ever and on every machine.
func TestBlocksArePinned(t *testing.T) {
	for i, c := range []struct {
		schema schema.Schema
		bytes  int
		hash   uint64
	}{{playerSchema, 5226, 0x22adf8bf05fc053d}, {edgeSchema, 2879, 0x4dffb027a4ab9d71}} {
		ring := recorded(c.schema, 100, 6, newWorld(c.schema, 100, 77, 0.7, 0.1, 0.05))
		e := NewEncoder(schema.DefaultModel(c.schema), 100)
		e.Begin(ring.At(6), ring)
		n, h := 0, uint64(14695981039346656037)
		for _, base := range []Baselines{{}, {1}, {2}, {3}, {4}, {5}, {5, 4, 3}, {4, 2, 1}, {5, 2}} {
			for _, b := range e.Run(0, ring.Groups(), base) {
				h = (h ^ uint64(b)) * 1099511628211
				n++
			}
		}
		if n != c.bytes || h != c.hash {
			t.Errorf("case %d: %d bytes, hash %#x, want %d, %#x", i, n, h, c.bytes, c.hash)
		}
	}
}

// TestTrainingShrinksUnseenTraffic: a model trained on one match codes another in fewer bytes, and
// counting changes no bit.
func TestTrainingShrinksUnseenTraffic(t *testing.T) {
	size := func(m *schema.Model, n *schema.Counts, seed uint64) (bytes int) {
		w := newWorld(playerSchema, 200, seed, 0.8, 0.005, 0)
		ring, e := NewRing(playerSchema, 200, Window, 1), NewEncoder(m, 200)
		e.Count(n)
		for now := tick.Tick(1); now <= 60; now++ {
			w.step()
			w.capture(ring.Begin(now))
			if now > 4 {
				e.Begin(ring.At(now), ring)
				bytes += len(e.Run(0, ring.Groups(), Baselines{now - 4}))
			}
		}
		return bytes
	}
	counts := schema.NewCounts(playerSchema)
	size(schema.DefaultModel(playerSchema), counts, 1)
	byDefault := size(schema.DefaultModel(playerSchema), nil, 2)
	if counted := size(schema.DefaultModel(playerSchema), schema.NewCounts(playerSchema), 2); counted != byDefault {
		t.Errorf("counting changes the size from %d to %d", byDefault, counted)
	}
	trained := size(schema.Train(playerSchema, counts), nil, 2)
	t.Logf("default %d B, trained %d B: %.1f and %.1f bits per entity and snapshot", byDefault, trained,
		float64(byDefault)*8/56/160, float64(trained)*8/56/160)
	if trained*100 > byDefault*97 {
		t.Errorf("default %d bytes, trained %d", byDefault, trained)
	}
}
