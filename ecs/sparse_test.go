package ecs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

type (
	place   struct{ X, Y, Z float32 }
	flight  struct{ Born, Life uint32 }
	burning struct{ Until uint32 }
	stunned struct{ Until uint32 }
)

// kept is an entity of a model: what an ordered kind and two sparse components hold of it.
type kept struct {
	id  netid.ID
	val flight
	pos place
}

// TestRow03OrderedRowsAgainstAModel spawns, despawns, adds and removes at random in two kinds, and
// compares rows, values and order with lists after each Flush.
func TestRow03OrderedRowsAgainstAModel(t *testing.T) { rapid.Check(t, orderedAgree) }

func orderedAgree(t *rapid.T) {
	const capacity = 12
	w := ecs.New(8)
	pos, fly := ecs.Register[place](w), ecs.Register[flight](w)
	player := w.Kind("player", pos)
	shot := w.Declare(ecs.Spec{Name: "shot", Page: 3, Capacity: capacity, Reserve: 4}, fly, pos)
	burns := ecs.RegisterSparse[burning](w, "burning", 20)
	stuns := ecs.RegisterSparse[stunned](w, "stunned", 2)
	var rows []kept
	type mark struct {
		id    netid.ID
		until uint32
	}
	var fire []mark
	var ids []netid.ID
	n, refused := uint32(0), 0
	for range rapid.IntRange(1, 30).Draw(t, "ticks") {
		var ended []netid.ID
		var born []kept
		type fired struct {
			mark
			out bool
		}
		var fires []fired
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			n++
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0, 1:
				id := w.Spawn(shot)
				if room := len(rows)+len(born) < capacity; room != (id != 0) {
					t.Fatalf("%d of %d rows, spawned %v", len(rows)+len(born), capacity, id)
				}
				if id == 0 {
					refused++
					continue
				}
				k := kept{id, flight{n, 2 * n}, place{float32(n), 0, 1}}
				fly.Set(id, k.val)
				pos.Set(id, k.pos)
				born = append(born, k)
				ids = append(ids, id)
			case 2:
				id := w.Spawn(player)
				if id != 0 {
					ids = append(ids, id)
				}
			case 3:
				if len(ids) > 0 {
					id := rapid.SampledFrom(ids).Draw(t, "ends")
					if w.Despawn(id) {
						ended = append(ended, id)
					}
				}
			case 4, 5:
				if len(ids) == 0 {
					continue
				}
				id := rapid.SampledFrom(ids).Draw(t, "host")
				if rapid.Bool().Draw(t, "out") {
					burns.Remove(id)
					fires = append(fires, fired{mark{id, 0}, true})
				} else if burns.Add(id, burning{n}) {
					fires = append(fires, fired{mark{id, n}, false})
				}
			}
		}
		w.Flush()
		rows = append(rows, born...)
		gone := func(id netid.ID) bool { return slices.Contains(ended, id) }
		rows = slices.DeleteFunc(rows, func(k kept) bool { return gone(k.id) })
		for _, f := range fires {
			at := slices.IndexFunc(fire, func(m mark) bool { return m.id == f.id })
			switch {
			case f.out && at >= 0:
				fire = slices.Delete(fire, at, at+1)
			case !f.out && at >= 0:
				fire[at].until = f.until
			case !f.out:
				fire = append(fire, f.mark)
			}
		}
		fire = slices.DeleteFunc(fire, func(m mark) bool { return !w.Alive(m.id) })
		var have []kept
		if v := w.View(shot); v.Open() {
			for i, id := range v.IDs() {
				have = append(have, kept{id, ecs.Column(v, fly)[i], ecs.Column(v, pos)[i]})
			}
			v.Close()
		}
		if !slices.Equal(have, rows) || w.Count(shot) != len(rows) {
			t.Fatalf("rows %v, want %v", have, rows)
		}
		for i, k := range rows {
			if row, ok := w.Row(k.id); !ok || row != i || *fly.Get(k.id) != k.val {
				t.Fatalf("%v: row %d %v, want %d", k.id, row, ok, i)
			}
		}
		hosts, values := burns.Rows()
		if len(hosts) != len(fire) {
			t.Fatalf("%v burn, want %v", hosts, fire)
		}
		for _, m := range fire {
			if b := burns.Get(m.id); b == nil || b.Until != m.until {
				t.Fatalf("%v burns %v, want %v", m.id, b, m.until)
			}
			if i := slices.Index(hosts, m.id); i < 0 || values[i].Until != m.until {
				t.Fatalf("%v is not in the rows", m.id)
			}
		}
		ids = slices.DeleteFunc(ids, func(id netid.ID) bool { return !w.Alive(id) })
		for _, id := range ids {
			burning := slices.ContainsFunc(fire, func(m mark) bool { return m.id == id })
			if burning != (burns.Get(id) != nil) {
				t.Fatalf("%v burns: %v", id, !burning)
			}
		}
	}
	if w.Refused(shot) != uint64(refused) {
		t.Errorf("%d refused, counted %d", refused, w.Refused(shot))
	}
	if len(ids) > 2 { // no more than the capacity of a sparse component
		for _, id := range ids[:3] {
			stuns.Add(id, stunned{1})
		}
		w.Flush()
		if w.Count(stuns.Kind()) != 2 || w.Refused(stuns.Kind()) != 1 || stuns.Get(ids[2]) != nil {
			t.Errorf("%d stunned, %d refused", w.Count(stuns.Kind()), w.Refused(stuns.Kind()))
		}
	}
	if len(w.Kinds(nil, ecs.Filter{})) != 2 {
		t.Error("sparse components are listed among kinds")
	}
}

// TestRow01ComponentsComeAndGo adds components to living entities and takes them away, and finds no
// row of the entities moved and no allocation.
func TestRow01ComponentsComeAndGo(t *testing.T) {
	w := ecs.New(1000)
	pos := ecs.Register[place](w)
	player := w.Kind("player", pos)
	burns := ecs.RegisterSparse[burning](w, "burning", 1000)
	for range 1000 {
		w.Spawn(player)
	}
	w.Flush()
	v := w.View(player)
	v.Open()
	before := slices.Clone(v.IDs())
	v.Close()
	tick := uint32(0)
	turn := func() {
		tick++
		for i, id := range before {
			if b := burns.Get(id); b == nil && (uint32(i)+tick)%3 == 0 {
				burns.Add(id, burning{tick + 2})
			} else if b != nil && b.Until <= tick {
				burns.Remove(id)
			}
		}
		w.Flush()
	}
	for range 10 {
		turn()
	}
	if n := alloctest.In(50, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
	v.Open()
	defer v.Close()
	if !slices.Equal(v.IDs(), before) || w.Count(burns.Kind()) == 0 {
		t.Error("rows moved, or nobody burns")
	}
}

// TestRestoreOfKinds restores ordered kinds and sparse components, and refuses what cannot be.
func TestRestoreOfKinds(t *testing.T) {
	open := func() (*ecs.World, ecs.Kind, ecs.Sparse[burning]) {
		w := ecs.New(2)
		shot := w.Declare(ecs.Spec{Name: "shot", Page: 1, Capacity: 4}, ecs.Register[flight](w))
		return w, shot, ecs.RegisterSparse[burning](w, "burning", 2)
	}
	w, shot, burns := open()
	a, b, c := w.Spawn(shot), w.Spawn(shot), w.Spawn(shot)
	w.Flush()
	w.Despawn(b)
	burns.Add(c, burning{7})
	w.Flush()
	gens := w.Generations(shot, nil)
	twin, twinShot, twinBurns := open()
	if err := twin.Restore(twinShot, []netid.ID{a, c}, gens); err != nil {
		t.Fatal(err)
	}
	if err := twin.Restore(twinBurns.Kind(), []netid.ID{c}, nil); err != nil {
		t.Fatal(err)
	}
	if twin.Count(twinShot) != 2 || twinBurns.Get(c) == nil || twinBurns.Get(a) != nil {
		t.Fatal("restored another state")
	}
	for range 3 { // and both go on alike
		if x, y := w.Spawn(shot), twin.Spawn(twinShot); x != y {
			t.Fatalf("spawned %v and %v", x, y)
		}
	}
	for i, bad := range []struct {
		ids  []netid.ID
		gens []uint8
		want string
	}{
		{[]netid.ID{a, a}, gens, "shot: entity"},
		{[]netid.ID{netid.Make(5, 1)}, gens, "shot: entity 5.1"},
		{[]netid.ID{a}, []uint8{9, 1, 1}, "shot: entity"},
		{nil, make([]uint8, 5), "5 slots of shot, expected 4"},
	} {
		other, kind, _ := open()
		if err := other.Restore(kind, bad.ids, bad.gens); !errors.Is(err, ecs.ErrRestore) ||
			!strings.Contains(err.Error(), bad.want) {
			t.Errorf("%d: %v, want %q", i, err, bad.want)
		}
	}
	other, _, sparse := open()
	if err := other.Restore(sparse.Kind(), []netid.ID{a}, nil); err == nil ||
		!strings.Contains(err.Error(), "burning of entity") {
		t.Error(err)
	}
	mustPanic(t, func() { other.Declare(ecs.Spec{Name: "late", Page: 1, Capacity: 1}) }, "late", "page 1")
	mustPanic(t, func() { other.Declare(ecs.Spec{Name: "late", Page: 2}) }, "capacity 0")
	mustPanic(t, func() { other.Spawn(sparse.Kind()) }, "burning is a sparse component")
}

// BenchmarkCompact ends a tenth of 1000 ordered rows of 96 bytes and spawns as many.
func BenchmarkCompact(b *testing.B) {
	w := ecs.New(16)
	type payload struct{ B [24]uint32 }
	body := ecs.Register[payload](w)
	k := w.Declare(ecs.Spec{Name: "shot", Page: 1, Capacity: 2000, Reserve: 2000}, body)
	ids := make([]netid.ID, 1000)
	for i := range ids {
		ids[i] = w.Spawn(k)
	}
	w.Flush()
	at := 0
	b.ReportAllocs()
	for b.Loop() {
		first := at
		for range 100 {
			w.Despawn(ids[at])
			at = (at + 7) % len(ids)
		}
		w.Flush()
		for range 100 {
			ids[first] = w.Spawn(k)
			body.Set(ids[first], payload{})
			first = (first + 7) % len(ids)
		}
		w.Flush()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/change")
}
