package ecs

import (
	"fmt"
	"slices"

	arche "github.com/mlange-42/arche/ecs"
)

// Kind is a set of components declared once under a name; each entity has one for its whole life. 0
// is none.
type Kind uint8

// kind is the world's state of a Kind.
type kind struct {
	name    string
	ids     []arche.ID // of the components, the world's netid.ID first
	sizes   []int      // of their types, in bytes
	view    *View
	pool    *pool
	refused uint64 // spawns beyond the capacity
	moved   bool   // rows came, went or moved since the last refresh

	ordered    bool           // rows keep the order in which they were spawned
	entities   []arche.Entity // of an ordered kind, by row
	ended      int            // despawned rows of an ordered kind, which compact will remove
	firstEnded int            // the lowest of them
	sparse     *sparseIndex   // of a sparse component
}

// Spec declares a kind that has a page of net ids and a capacity of its own.
type Spec struct {
	Name     string
	Page     int // its net ids begin at Page*PageSlots; 1 to 15, one kind each
	Capacity int // most entities at a time, 1 to PageSlots
	Reserve  int // entities for which memory is taken at once, at most Capacity
}

// Kind declares the kind called name with exactly these components (the NetID is kept beside them,
// do not name it); its entities share the slots of page 0. It panics if the name or the same set is
// taken, since two kinds of one set would share their columns: add an empty struct type as a tag to
// tell them apart. At most 255 kinds; declare them before the first tick.
func (w *World) Kind(name string, comps ...Component) Kind {
	return w.declare(kind{name: name, pool: w.page[0]}, comps)
}

// Declare declares a kind whose entities have slots of their own. Its rows keep the order in which
// they were spawned, also when some are despawned. It panics as Kind does, and for a page that is
// taken or a capacity out of range.
func (w *World) Declare(s Spec, comps ...Component) Kind {
	if s.Page < 1 || s.Page >= pages || w.page[s.Page].capacity > 0 {
		panic(fmt.Sprintf("ecs: Declare %s: page %d: want a free one of 1 to %d", s.Name, s.Page, pages-1))
	}
	if s.Capacity < 1 || s.Capacity > PageSlots || s.Reserve > s.Capacity {
		panic(fmt.Sprintf("ecs: Declare %s: capacity %d, reserve %d: want 1 to %d, and no larger reserve",
			s.Name, s.Capacity, s.Reserve, PageSlots))
	}
	p := newPool(s.Page*PageSlots, s.Capacity, s.Reserve)
	k := w.declare(kind{name: s.Name, pool: p, ordered: true}, comps)
	w.page[s.Page] = p
	w.reserveRows(k, s.Reserve)
	return k
}

// declare adds a kind.
func (w *World) declare(k kind, comps []Component) Kind {
	w.mustBeClosed("Kind " + k.name)
	if len(w.kinds) > 255 {
		panic("ecs: Kind " + k.name + ": 255 kinds are declared, want no more")
	}
	k.ids = w.componentSet("Kind "+k.name, comps)
	mask := arche.All(k.ids...)
	for i := range w.kinds[1:] {
		other := &w.kinds[1+i]
		if other.name == k.name {
			panic("ecs: Kind " + k.name + " declared twice: want a name of its own")
		}
		if arche.All(other.ids...) == mask {
			panic("ecs: Kind " + k.name + " has the components of " + other.name +
				": want a tag on one of them")
		}
	}
	for _, id := range k.ids {
		k.sizes = append(k.sizes, int(w.typeOf(id).Size()))
	}
	w.store.RemoveEntity(w.store.NewEntity(k.ids...)) // makes arche take the columns' memory now
	k.view = newView(w, k.name, k.ids)
	w.kinds = append(w.kinds, k)
	return Kind(len(w.kinds) - 1)
}

// reserveRows makes arche take memory for n rows of a new ordered kind.
func (w *World) reserveRows(k Kind, n int) {
	kind := &w.kinds[k]
	kind.entities = make([]arche.Entity, 0, n)
	if n > w.Slots() { // arche takes memory for that many by itself
		w.store.Batch().New(n, kind.ids...)
		w.store.Batch().RemoveEntities(&kind.view.exact)
	}
	w.spawned = slices.Grow(w.spawned, cap(w.spawned)+n)
	w.despawned = slices.Grow(w.despawned, cap(w.despawned)+n)
}

// View returns the view of the kind. There is one for each kind.
func (w *World) View(k Kind) *View { return w.kind(k).view }

// KindName returns the name k was declared with.
func (w *World) KindName(k Kind) string { return w.kind(k).name }

// Count is the number of rows of a kind.
func (w *World) Count(k Kind) int {
	kind := w.kind(k)
	if kind.ordered {
		return len(kind.entities)
	}
	if kind.view.open || !kind.view.Open() {
		return kind.view.rows
	}
	defer kind.view.Close()
	return kind.view.rows
}

// Capacity is the most entities of a kind at a time; kinds of page 0 share it.
func (w *World) Capacity(k Kind) int {
	kind := w.kind(k)
	if kind.sparse != nil {
		return kind.sparse.capacity
	}
	return kind.pool.capacity
}

// Refused is how many entities of a kind were not spawned because the capacity was reached.
func (w *World) Refused(k Kind) uint64 { return w.kind(k).refused }

// RowBytes is the size of a row of a kind in bytes, the id included.
func (w *World) RowBytes(k Kind) (n int) {
	for _, size := range w.kind(k).sizes {
		n += size
	}
	return n
}

func (w *World) kind(k Kind) *kind {
	if k == 0 || int(k) >= len(w.kinds) {
		panic(fmt.Sprintf("ecs: kind %d: want a declared one, 1 to %d", k, len(w.kinds)-1))
	}
	return &w.kinds[k]
}

// componentSet checks a list of components and puts the world's NetID in front.
func (w *World) componentSet(what string, comps []Component) []arche.ID {
	ids := append(make([]arche.ID, 0, len(comps)+1), w.netID)
	seen := arche.All(w.netID)
	for i, c := range comps {
		owner, id := c.component()
		if owner != w {
			panic(fmt.Sprintf("ecs: %s: component %d, %T, is of another world: want what Register returned", what, i, c))
		}
		if seen.Get(id) {
			panic(fmt.Sprintf("ecs: %s: component %d, %T, is named twice: want each once", what, i, c))
		}
		seen.Set(id, true)
		ids = append(ids, id)
	}
	return ids
}
