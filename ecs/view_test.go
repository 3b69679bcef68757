package ecs

// The eight conditions under which a slice over arche's memory is a column. Each is pinned twice
// where it can be: that arche does what we believe (so the guard is needed), and that the guard
// stands.

import (
	"strings"
	"testing"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
)

type (
	where struct{ geom.Vec3 }
	speed struct{ geom.Vec3 }
	blood struct{ Health int32 }
	child struct {
		arche.Relation
		Health int32
	}
)

// crowd makes a world of two kinds, the second a superset of the first, n entities in each, Health
// = row + 1.
func crowd(slots, n int) (w *World, small, large Kind, health Comp[blood]) {
	w = New(slots)
	place := Register[where](w)
	health = Register[blood](w)
	small, large = w.Kind("small", health), w.Kind("large", health, place)
	for range n {
		w.Spawn(small)
		w.Spawn(large)
	}
	w.Flush()
	for _, k := range []Kind{small, large} {
		if v := w.View(k); v.Open() {
			for i := range Column(v, health) {
				Column(v, health)[i].Health = int32(i + 1)
			}
			v.Close()
		}
	}
	return w, small, large, health
}

func wantPanic(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, _ := recover().(string); !strings.Contains(text, part) {
			t.Fatalf("panic %q, want it to say %q", text, part)
		}
	}()
	f()
}

func TestCondition1OneArchetypeAView(t *testing.T) {
	w, small, large, health := crowd(64, 10)
	all := arche.All(w.netID, health.id)
	q := w.store.Query(&all)
	if q.Count() != 20 { // why the filter must be exclusive: this count spans two columns
		t.Fatalf("a plain filter matched %d", q.Count())
	}
	q.Close()
	for _, k := range []Kind{small, large} {
		v := w.View(k)
		if !v.Open() || v.Len() != 10 || len(Column(v, health)) != 10 || cap(Column(v, health)) != 10 {
			t.Fatalf("%s: %d rows, want its own 10", w.KindName(k), v.Len())
		}
		for i, h := range Column(v, health) {
			if h.Health != int32(i+1) || w.KindOf(v.IDs()[i]) != k {
				t.Fatalf("%s row %d: %+v of %v", w.KindName(k), i, h, v.IDs()[i])
			}
		}
		v.Close()
	}
}

func TestCondition2NoRelations(t *testing.T) {
	store := arche.NewWorld()
	id := arche.ComponentID[child](&store)
	mother, father := store.NewEntity(), store.NewEntity()
	a, b := store.NewEntity(id), store.NewEntity(id)
	store.Relations().Set(a, id, mother)
	store.Relations().Set(b, id, father)
	exact := arche.All(id).Exclusive()
	q := store.Query(&exact)
	n := q.Count()
	q.Next()
	first := q.Get(id)
	q.Next()
	if second := q.Get(id); n != 2 || uintptr(second) == uintptr(first)+unsafe.Sizeof(child{}) {
		t.Fatal("arche keeps targets of a relation in one column now; the guard may go")
	}
	q.Close()
	wantPanic(t, "relation", func() { Register[child](New(1)) })
}

func TestCondition3ExactComponentType(t *testing.T) {
	w, small, large, health := crowd(64, 10)
	other := New(1)
	first, _ := Register[speed](other), Register[where](other) // same numbers as this world's, other types
	v := w.View(small)
	v.Open()
	wantPanic(t, "small has no component ecs.where", func() {
		Column(v, Comp[where]{w, arche.ComponentID[where](&w.store)})
	})
	wantPanic(t, "has no component", func() { Column(v, first) })
	wantPanic(t, "has no component", func() { Column(v, Comp[geom.Vec3]{}) })
	v.Close()

	v = w.View(large)
	v.Open()
	defer v.Close()
	column, ids := Column(v, health), v.IDs()
	q := w.store.Query(&v.exact)
	for i := 0; q.Next(); i++ { // the layout we rest upon, against arche's own walk
		if unsafe.Pointer(&column[i]) != q.Get(health.id) || unsafe.Pointer(&ids[i]) != q.Get(w.netID) {
			t.Fatalf("row %d: the column is not where arche keeps it", i)
		}
	}
}

func TestCondition4EmptyKindsAreNotOpen(t *testing.T) {
	w, small, _, health := crowd(64, 0)
	v := w.View(small)
	if v.Open() || v.Len() != 0 || w.store.IsLocked() {
		t.Fatal("an empty kind opened, or left the store locked")
	}
	v.Close() // arche's own second Close would panic
	wantPanic(t, "not open", func() { Column(v, health) })
	wantPanic(t, "not open", func() { v.IDs() })
	w.Spawn(small)
	w.Flush()
	if !v.Open() {
		t.Fatal("a view made before the first entity does not see it")
	}
	wantPanic(t, "opened twice", func() { v.Open() })
	v.Close()
	if v.Len() != 0 {
		t.Fatal("rows after Close")
	}
	wantPanic(t, "not open", func() { Column(v, health) })
}

func TestCondition5SlicesEndWithStructuralChange(t *testing.T) {
	t.Run("growth leaves the old memory behind", func(t *testing.T) {
		store := arche.NewWorld(2)
		id := arche.ComponentID[blood](&store)
		first := store.NewEntity(id)
		old := (*blood)(store.Get(first, id))
		old.Health = 1
		for range 9 {
			store.NewEntity(id)
		}
		now := (*blood)(store.Get(first, id))
		now.Health = 2
		if old == now || old.Health != 1 {
			t.Fatal("arche grows in place now")
		}
	})
	t.Run("our columns are taken at full size", func(t *testing.T) {
		w, small, _, health := crowd(64, 1)
		v := w.View(small)
		v.Open()
		before := &Column(v, health)[0]
		v.Close()
		for range 60 {
			w.Spawn(small)
		}
		w.Flush()
		v.Open()
		defer v.Close()
		if after := &Column(v, health)[0]; after != before || v.Len() != 61 {
			t.Fatal("a column moved although its world has room for every slot")
		}
	})
	t.Run("removal moves the last row into the hole", func(t *testing.T) {
		w, small, _, health := crowd(64, 10)
		v := w.View(small)
		v.Open()
		stale, third, last := Column(v, health), v.IDs()[3], v.IDs()[9]
		v.Close()
		w.Despawn(third)
		w.Flush()
		if stale[3].Health != 10 || stale[9].Health != 0 {
			t.Fatalf("a kept slice reads %v", stale)
		}
		row, ok := w.Row(last)
		if !ok || row != 3 || health.Get(last).Health != 10 {
			t.Fatalf("the last entity is in row %d", row)
		}
		v.Open()
		defer v.Close()
		if len(Column(v, health)) != 9 || v.IDs()[3] != last {
			t.Fatal("the reopened column does not show the change")
		}
	})
}

func TestCondition6ClosedBeforeStructuralChange(t *testing.T) {
	w, small, large, health := crowd(64, 10)
	v := w.View(large)
	v.Open()
	fresh := w.Spawn(small) // queued, so allowed
	w.Despawn(v.IDs()[0])
	wantPanic(t, "Flush while a view is open: Close the view of large first", w.Flush)
	wantPanic(t, "Kind late while a view is open", func() { w.Kind("late", health) })
	v.Close()
	w.Flush()
	if !w.Alive(fresh) || len(w.Despawned()) != 1 {
		t.Fatal("the queue was lost by the refused Flush")
	}
}

func TestCondition7NoAllocations(t *testing.T) {
	w, small, large, health := crowd(64, 10)
	a, b := w.View(small), w.View(large)
	var sum int32
	n := alloctest.In(200, func() {
		a.Open()
		b.Open()
		sum += Column(a, health)[0].Health + Column(b, health)[9].Health + int32(len(b.IDs()))
		b.Close()
		a.Close()
	})
	if n != 0 || sum == 0 {
		t.Fatalf("%v allocations for two views", n)
	}
	id := w.At(3)
	if n := alloctest.In(200, func() {
		health.Get(id).Health++
		w.Row(id)
	}); n != 0 {
		t.Fatalf("%v allocations for Get and Row", n)
	}
}

func TestCondition8AlignmentIsGos(t *testing.T) {
	w := New(8)
	byteSized := Register[struct{ B [3]byte }](w)
	place := Register[where](w)
	wide := Register[struct{ D [2]uint64 }](w)
	k := w.Kind("mixed", wide, byteSized, place)
	for range 8 {
		w.Spawn(k)
	}
	w.Flush()
	v := w.View(k)
	v.Open()
	defer v.Close()
	if a := uintptr(unsafe.Pointer(&Column(v, place)[0])) % unsafe.Alignof(where{}); a != 0 {
		t.Fatalf("column of float32 is off by %d", a)
	}
	if a := uintptr(unsafe.Pointer(&Column(v, wide)[0])) % 8; a != 0 {
		t.Fatalf("column of uint64 is off by %d", a)
	}
	for i := range 8 {
		Column(v, byteSized)[i].B = [3]byte{byte(i), 1, 2}
		Column(v, place)[i].X = float32(i)
	}
	// Structs of three float32 follow each other without gaps.
	flat := unsafe.Slice(&Column(v, place)[0].X, 3*8)
	for i := range 8 {
		if flat[3*i] != float32(i) || Column(v, byteSized)[i].B[0] != byte(i) {
			t.Fatalf("row %d: neighbours overlap", i)
		}
	}
}

func TestTagsHaveColumnsToo(t *testing.T) {
	w := New(8)
	flag := Register[struct{}](w)
	k := w.Kind("flagged", flag)
	id := w.Spawn(k)
	w.Spawn(k)
	w.Flush()
	v := w.View(k)
	v.Open()
	defer v.Close()
	if len(Column(v, flag)) != 2 || flag.Get(id) == nil {
		t.Fatal("a component without size has no column")
	}
}
