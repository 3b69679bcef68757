package ecs_test

// Rows 1 to 3 and 6 of docs/features.md. Entities keep their kind, so adding or removing a
// component is a death and a birth.

import (
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/internal/alloctest"
)

// many is how many entities row 1 speaks of.
const many = 100_000

// TestRow01HundredThousandEntities creates, finds, destroys and creates again: a handle means its
// entity for all of that one's life and nothing after it, whatever moved meanwhile.
func TestRow01HundredThousandEntities(t *testing.T) {
	w := ecs.New(many)
	health, flag := ecs.Register[life](w), ecs.Register[tag](w)
	kinds := [2]ecs.Kind{w.Kind("player", health), w.Kind("ghost", flag, health)}
	ids := make([]netid.ID, many)
	for i := range ids {
		if ids[i] = w.Spawn(kinds[i%2]); ids[i] == 0 || w.Alive(ids[i]) {
			t.Fatalf("entity %d: %v", i, ids[i])
		}
	}
	if w.Spawn(kinds[0]) != 0 {
		t.Error("one too many")
	}
	w.Flush()
	for i, id := range ids {
		health.Get(id).Health = int32(i)
	}
	holds := func(i int, id netid.ID) {
		t.Helper()
		if row, ok := w.Row(id); !ok || w.KindOf(id) != kinds[i%2] || w.At(id.Index()) != id ||
			health.Get(id).Health != int32(i) || row < 0 {
			t.Fatalf("entity %d, %v: row %d %v, %+v", i, id, row, ok, health.Get(id))
		}
	}
	gone := map[netid.ID]bool{}
	for i := 0; i < many; i += 3 {
		if !w.Despawn(ids[i]) || w.Despawn(ids[i]) {
			t.Fatalf("entity %d ends not once", i)
		}
		gone[ids[i]] = true
	}
	w.Flush()
	for i, id := range ids {
		if !gone[id] {
			holds(i, id)
		} else if w.Alive(id) || w.KindOf(id) != 0 || health.Get(id) != nil || w.Despawn(id) ||
			w.At(id.Index()) != 0 {
			t.Fatalf("stale %v is taken for somebody", id)
		}
	}
	for i := 0; i < many; i += 3 {
		was := ids[i]
		ids[i] = w.Spawn(kinds[i%2])
		if ids[i] == was || ids[i].Index() != was.Index() { // the lowest free slot first
			t.Fatalf("entity %d: %v after %v", i, ids[i], was)
		}
	}
	w.Flush()
	for i := 0; i < many; i += 3 {
		if health.Get(ids[i]).Health != 0 {
			t.Fatalf("entity %d begins with what another had", i)
		}
		health.Get(ids[i]).Health = int32(i)
	}
	seen := 0
	for _, k := range kinds {
		v := w.View(k)
		v.Open()
		for row, id := range v.IDs() {
			if h := ecs.Column(v, health)[row].Health; ids[h] != id {
				t.Fatalf("row %d has %v with what %v has", row, id, ids[h])
			}
			seen++
		}
		v.Close()
	}
	for i, id := range ids {
		holds(i, id)
	}
	for id := range gone {
		if w.Alive(id) {
			t.Fatalf("%v lives again", id)
		}
	}
	if seen != many || w.Len() != many {
		t.Errorf("%d in views, %d in all", seen, w.Len())
	}
}

// BenchmarkRow01 turns a thousand of 1e5 entities over and looks at all of them, as no tick of a
// match does.
func BenchmarkRow01(b *testing.B) {
	w := ecs.New(many)
	health := ecs.Register[life](w)
	k := w.Kind("player", health)
	for range many {
		w.Spawn(k)
	}
	w.Flush()
	view, sum, at := w.View(k), int32(0), 0
	turn := func() {
		for range 1000 {
			at = (at + 97) % many
			w.Despawn(w.At(at))
		}
		w.Flush()
		for range 1000 {
			w.Spawn(k)
		}
		w.Flush()
		view.Open()
		for _, h := range ecs.Column(view, health) {
			sum += h.Health
		}
		view.Close()
	}
	b.ReportAllocs()
	for b.Loop() {
		turn()
	}
	if n := alloctest.In(5, turn); n != 0 {
		b.Errorf("%v allocations", n)
	}
	runtime.KeepAlive(sum)
}

type (
	compA struct{ V int32 }
	compB struct{ V int32 }
	compC struct{ V int32 }
	compD struct{ V int32 }
)

// TestRow02FiltersAgainstAModel declares kinds of random sets of four components, spawns and
// despawns at random, and asks for random sets of components that must and must not be there. The
// views of a filter hold the same entities as a plain list of sets.
func TestRow02FiltersAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := ecs.New(64)
		comps := []ecs.Component{ecs.Register[compA](w), ecs.Register[compB](w), ecs.Register[compC](w),
			ecs.Register[compD](w)}
		choose := func(set int) (some []ecs.Component) {
			for i, c := range comps {
				if set>>i&1 != 0 {
					some = append(some, c)
				}
			}
			return some
		}
		sets := rapid.SliceOfNDistinct(rapid.IntRange(0, 15), 1, 12, rapid.ID[int]).Draw(t, "sets")
		var kinds []ecs.Kind
		for _, set := range sets {
			kinds = append(kinds, w.Kind(string(rune('a'+set)), choose(set)...))
		}
		model := map[netid.ID]int{}
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			if id := w.At(rapid.IntRange(0, 63).Draw(t, "slot")); id != 0 && rapid.Bool().Draw(t, "ends") {
				w.Despawn(id)
				delete(model, id)
			} else {
				i := rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")
				if id := w.Spawn(kinds[i]); id != 0 {
					model[id] = sets[i]
				}
			}
			w.Flush()
		}
		with, without := rapid.IntRange(0, 15).Draw(t, "with"), rapid.IntRange(0, 15).Draw(t, "without")
		var got, want []netid.ID
		for _, k := range w.Kinds(nil, ecs.Filter{With: choose(with), Without: choose(without)}) {
			if v := w.View(k); v.Open() {
				got = append(got, v.IDs()...)
				v.Close()
			}
		}
		for id, set := range model {
			if set&with == with && set&without == 0 {
				want = append(want, id)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("kinds %04b: with %04b and without %04b: %v, want %v", sets, with, without, got, want)
		}
	})
	w, other := ecs.New(1), ecs.New(1)
	foreign := ecs.Register[compA](other)
	mustPanic(t, func() { w.Kinds(nil, ecs.Filter{Without: []ecs.Component{foreign}}) },
		"is of another world")
}

// TestRow03ChangesWaitAndKeepTheirOrder: what is asked for while rows are looked at happens after
// that, in the order in which it was asked for, and the rows that are looked at stay what they
// were.
func TestRow03ChangesWaitAndKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := ecs.New(40)
		health := ecs.Register[life](w)
		k := w.Kind("player", health)
		for range 20 {
			w.Spawn(k)
		}
		w.Flush()
		v := w.View(k)
		for round := range 6 {
			if !v.Open() {
				break
			}
			before, column := slices.Clone(v.IDs()), ecs.Column(v, health)
			var born, ended []netid.ID
			unborn := map[netid.ID]bool{}
			for row, id := range before {
				column[row].Health = int32(id)
				switch rapid.IntRange(0, 3).Draw(t, "change") {
				case 0:
					if w.Despawn(id) {
						ended = append(ended, id)
					}
				case 1:
					if fresh := w.Spawn(k); fresh != 0 {
						born, unborn[fresh] = append(born, fresh), true
					}
				case 2: // both, within one iteration
					if fresh := w.Spawn(k); fresh != 0 && !w.Despawn(fresh) {
						t.Fatal("who waits to be born cannot be ended")
					}
				}
			}
			if !slices.Equal(v.IDs(), before) || v.Len() != len(before) {
				t.Fatalf("round %d: rows moved under a view", round)
			}
			for row, id := range before {
				if column[row].Health != int32(id) || !w.Alive(id) {
					t.Fatalf("round %d: row %d changed under a view", round, row)
				}
			}
			for id := range unborn {
				if w.Alive(id) || health.Get(id) != nil {
					t.Fatalf("round %d: %v lives before its time", round, id)
				}
			}
			v.Close()
			w.Flush()
			if !slices.Equal(w.Spawned(), born) || !slices.Equal(w.Despawned(), ended) {
				t.Fatalf("round %d: born %v, want %v; ended %v, want %v", round, w.Spawned(), born,
					w.Despawned(), ended)
			}
			for _, id := range born {
				if !w.Alive(id) || health.Get(id).Health != 0 {
					t.Fatalf("round %d: %v was asked for", round, id)
				}
			}
		}
	})
}

// TestRow06SingletonsOfTwoWorlds: a system's state lies in its world, and a world knows nothing of
// another's, not of its components either.
func TestRow06SingletonsOfTwoWorlds(t *testing.T) {
	tickOver := func(w *ecs.World) { // a system: all it keeps is the resource
		s := ecs.Resource[score](w)
		s.Red += s.Blue + 1
	}
	var worlds [3]*ecs.World
	for i := range worlds {
		worlds[i] = ecs.New(4)
		ecs.SetResource(worlds[i], &score{Blue: i})
	}
	for n := range 100 {
		for i := range worlds {
			if (n+i)%(i+1) == 0 {
				tickOver(worlds[i])
			}
		}
	}
	for i, want := range []int{100 * 1, 50 * 2, 33 * 3} {
		if got := ecs.Resource[score](worlds[i]).Red; got != want {
			t.Errorf("world %d: %d, want %d", i, got, want)
		}
	}
	health := ecs.Register[life](worlds[0])
	theirs := worlds[1].Kind("player", ecs.Register[life](worlds[1]))
	id := worlds[1].Spawn(theirs)
	worlds[1].Flush()
	if health.Get(id) != nil {
		t.Error("one world's component finds another's entity")
	}
	v := worlds[1].View(theirs)
	v.Open()
	defer v.Close()
	mustPanic(t, func() { ecs.Column(v, health) }, "no component")
}
