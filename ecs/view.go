package ecs

import (
	"reflect"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// View hands out the columns of the entities that have exactly one set of components. Open it, take
// columns, Close it. It allocates nothing and may be kept and opened again each tick.
type View struct {
	world *World
	name  string
	ids   []arche.ID     // of the components, the world's netid.ID first
	types []reflect.Type // of the components but the first
	mask  arche.Mask
	// Exclusive, so at most one archetype matches and Count belongs to the column.
	exact  arche.MaskFilter
	filter arche.CachedFilter
	query  arche.Query // stands on the first row while open
	rows   int
	open   bool
}

func newView(w *World, name string, ids []arche.ID) *View {
	v := &View{world: w, name: name, ids: ids, mask: arche.All(ids...)}
	for _, id := range ids[1:] {
		v.types = append(v.types, w.typeOf(id))
	}
	v.exact = v.mask.Exclusive()
	v.filter = w.store.Cache().Register(&v.exact)
	return v
}

// Open looks at the kind's rows as they are now and reports whether there are any. After true,
// Close must follow before the next Flush; after false nothing is open. Other views may be open at
// the same time.
func (v *View) Open() bool {
	if v.open {
		panic("ecs: view of " + v.name + " opened twice: want a Close in between")
	}
	v.query = v.world.store.Query(&v.filter)
	v.rows = v.query.Count()
	if !v.query.Next() { // empty, and arche's query has closed itself
		v.rows = 0
		return false
	}
	v.open = true
	v.world.open = append(v.world.open, v)
	return true
}

// Len is the number of rows while the view is open, else 0.
func (v *View) Len() int { return v.rows }

// Close ends the use of every column taken since Open. Without an open view it does nothing.
func (v *View) Close() {
	if !v.open {
		return
	}
	v.query.Close()
	v.open, v.rows = false, 0
	v.world.forget(v)
}

// IDs is the column of ids; read only, and valid as any column is.
func (v *View) IDs() []netid.ID {
	v.mustBeOpen("IDs")
	return unsafe.Slice((*netid.ID)(v.query.Get(v.world.netID)), v.rows)
}

// Column is component c of every row, in row order: arche's own memory, aligned as Go aligns a []T
// (no more: kernels must load unaligned), valid until Close. It panics if the view is closed or its
// kind has no such component.
func Column[T any](v *View, c Comp[T]) []T {
	v.mustBeOpen("Column")
	if c.world != v.world || !v.mask.Get(c.id) {
		panic("ecs: Column: kind " + v.name + " has no component " + reflect.TypeFor[T]().String() + ": want one it was declared with")
	}
	return unsafe.Slice((*T)(v.query.Get(c.id)), v.rows)
}

// Rows is component c of every entity of kind k, as Column of a view that is opened for it and
// closed again: the slice may be used until the next Flush. It is nil without rows.
func Rows[T any](w *World, k Kind, c Comp[T]) []T {
	v := w.View(k)
	if !v.Open() {
		return nil
	}
	column := Column(v, c)
	v.Close()
	return column
}

func (w *World) forget(v *View) {
	last := len(w.open) - 1
	for i := range w.open {
		if w.open[i] == v {
			w.open[i], w.open = w.open[last], w.open[:last]
			return
		}
	}
}

func (v *View) mustBeOpen(what string) {
	if !v.open {
		panic("ecs: " + what + ": the view of " + v.name + " is not open: want Open before")
	}
}
