package snapshot

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestRow35Lifetimes: the six cases of the reference, relative to the baseline, tick 10, and the
// snapshot, tick 20. An entity is there in [spawn, gone). The client holds tick 10 and, where seen
// says so, tick 15, which the server does not know; after tick 20 it must show what the server has,
// and nothing else.
func TestRow35Lifetimes(t *testing.T) {
	one := schema.Schema{Name: "one", Fields: []schema.Field{{Name: "v", Min: 0, Max: 1000}}}
	m := schema.DefaultModel(one)
	const slot = 3
	type life struct{ spawn, gone tick.Tick }
	for i, c := range []struct {
		name  string
		lives []life
		seen  bool // the client got tick 15, but its acknowledgement is late
		row   string
	}{
		{"1 gone before the baseline", []life{{2, 8}}, false, "nobody"},
		{"2 despawned since", []life{{2, 18}}, false, "despawn"},
		{"3 alive", []life{{2, 99}}, false, "update"},
		{"4 came and went since", []life{{12, 18}}, false, "nobody"},
		{"4 and the client saw it: the reference's hole", []life{{12, 18}}, true, "nobody"},
		{"5 spawned since", []life{{12, 99}}, false, "spawn"},
		{"5 and the client saw it", []life{{12, 99}}, true, "spawn"},
		{"6 of the future", []life{{25, 99}}, false, "nobody"},
		{"replaced since", []life{{2, 14}, {16, 99}}, false, "replace"},
		{"replaced since, first one seen at 15", []life{{2, 16}, {17, 99}}, true, "replace"},
		{"came, went and another came", []life{{11, 14}, {15, 16}, {18, 99}}, true, "spawn"},
	} {
		ring, e, d := NewRing(one, 16, Window, 1), NewEncoder(m, 16), NewDecoder(m, 16, 1)
		for now := tick.Tick(1); now <= 20; now++ {
			f := ring.Begin(now)
			for gen, l := range c.lives {
				if l.spawn <= now && now < l.gone {
					f.Set(slot, netid.Make(slot, uint8(gen+1)), []int32{int32(now)})
				}
			}
			send := func(base tick.Tick) {
				e.Begin(f, ring)
				src := append(AppendRun(nil, Run{First: 0, Count: 1, Baselines: Baselines{base}}, now, 1), e.Group(0, Baselines{base})...)
				if err := d.Section(now, src); err != nil {
					t.Fatalf("case %d (%s): tick %d: %v", i, c.name, now, err)
				}
			}
			switch {
			case now == 10:
				send(0)
			case now == 15 && c.seen:
				send(10)
			case now == 20:
				counts := schema.NewCounts(one)
				e.Count(counts)
				send(10)
				if got := rowKind(counts, ring.At(10).ID(slot), f.ID(slot)); got != c.row {
					t.Errorf("case %d (%s): coded as %s, want %s", i, c.name, got, c.row)
				}
			}
		}
		var got, want [1]int32
		if id, truth := d.At(20).Row(slot, got[:]), ring.At(20).Row(slot, want[:]); id != truth || got != want {
			t.Errorf("case %d (%s): client has %v %v, server %v %v", i, c.name, id, got, truth, want)
		}
		if f := d.Before(slot, 20); f == nil || f.Tick != 20 || d.Newest(slot) != 20 {
			t.Errorf("case %d (%s): the newest frame is not the one of tick 20", i, c.name)
		}
	}
}

// rowKind reads from the counted symbols how a lone row was coded; rows without a baseline have no
// symbol.
func rowKind(n *schema.Counts, was, id netid.ID) string {
	switch {
	case n.Masks[0][schema.Gone] == 1:
		return "despawn"
	case n.Masks[0][schema.Replace] == 1:
		return "replace"
	case was != 0:
		return "update"
	case id != 0:
		return "spawn"
	default:
		return "nobody"
	}
}
