package ecs

import (
	"fmt"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/netid"
)

// Sparse is a component that comes and goes on living entities. It has rows of its own, one for
// each entity that has it, so that adding one moves no row of the entity's kind: columns of a kind
// stay whole, whatever its entities catch and lose. Rows keep the order in which they were added.
type Sparse[T any] struct {
	comp Comp[T]
	kind Kind
}

// sparseIndex finds the row of an entity.
type sparseIndex struct {
	capacity int
	rows     [pages][]int32 // by page and index: 1 + row; 0 is none
}

// RegisterSparse makes T known as a sparse component for at most capacity entities at a time, under
// a name that no kind has. It panics as Register and Kind do.
func RegisterSparse[T any](w *World, name string, capacity int) Sparse[T] {
	c := Register[T](w)
	k := w.declare(kind{name: name, ordered: true, sparse: &sparseIndex{capacity: capacity}}, []Component{c})
	w.reserveRows(k, capacity)
	w.sparse = append(w.sparse, k)
	return Sparse[T]{c, k}
}

// SparseOf is the sparse component of type T that RegisterSparse has made known. It panics if it
// has not.
func SparseOf[T any](w *World) Sparse[T] {
	c := CompOf[T](w)
	for _, k := range w.sparse {
		if w.kinds[k].ids[1] == c.id {
			return Sparse[T]{c, k}
		}
	}
	panic("ecs: SparseOf: " + w.typeOf(c.id).String() + " is not a sparse component: want RegisterSparse before")
}

// Kind is the kind whose rows hold the component; View.IDs of its view are the entities that have
// it. Nothing spawns it.
func (s Sparse[T]) Kind() Kind { return s.kind }

// Add queues that the entity id gets the component, or another value of it. It reports false for a
// stale id.
func (s Sparse[T]) Add(id netid.ID, v T) bool {
	w := s.comp.world
	if w.find(id) == nil {
		return false
	}
	w.queue.push(change{id: id, op: opAdd, kind: s.kind, comp: s.comp.id}, bytesOf(&v))
	return true
}

// Remove queues that the entity id loses the component; without it nothing happens.
func (s Sparse[T]) Remove(id netid.ID) {
	w := s.comp.world
	w.queue.push(change{id: id, op: opRemove, kind: s.kind}, nil)
}

// Get returns the component of an entity, nil if it has none. The pointer may be used until the
// next Flush.
func (s Sparse[T]) Get(id netid.ID) *T {
	w := s.comp.world
	k := &w.kinds[s.kind]
	row := k.sparse.row(id)
	if row < 0 || w.find(id) == nil {
		return nil
	}
	return (*T)(w.store.GetUnchecked(k.entities[row], s.comp.id))
}

// Rows returns the entities that have the component, and its values; read ids only. Both are valid
// until the next Flush.
func (s Sparse[T]) Rows() (ids []netid.ID, values []T) {
	k := &s.comp.world.kinds[s.kind]
	if len(k.entities) == 0 { // as a rule: spares opening the view
		return nil, nil
	}
	v := k.view
	if !v.Open() {
		return nil, nil
	}
	ids, values = v.IDs(), Column(v, s.comp)
	v.Close()
	return ids, values
}

// attach gives an entity a sparse component, or writes the one that it has.
func (w *World) attach(k *kind, c *change) {
	if s := w.find(c.id); s == nil || s.row < 0 {
		return
	}
	row := k.sparse.row(c.id)
	if row < 0 {
		if len(k.entities)-k.ended >= k.sparse.capacity {
			k.refused++
			return
		}
		e := w.store.NewEntity(k.ids...)
		*(*netid.ID)(w.store.GetUnchecked(e, w.netID)) = c.id
		row = int(k.push(e))
		k.sparse.set(c.id, int32(row)+1)
	}
	copyTo(w.store.GetUnchecked(k.entities[row], c.comp), w.queue.value(c))
}

// detach takes a sparse component from an entity, if it has it.
func (k *kind) detach(w *World, id netid.ID) {
	row := k.sparse.row(id)
	if row < 0 || *(*netid.ID)(w.store.GetUnchecked(k.entities[row], w.netID)) != id {
		return
	}
	k.end(w, row)
	k.sparse.set(id, 0)
}

// row is the row of an entity, -1 if there is none.
func (x *sparseIndex) row(id netid.ID) int {
	page := x.rows[id.Index()>>pageBits]
	if i := id.Index() & (PageSlots - 1); i < len(page) {
		return int(page[i]) - 1
	}
	return -1
}

// set writes 1 + the row of an entity, 0 for none.
func (x *sparseIndex) set(id netid.ID, row int32) {
	page := &x.rows[id.Index()>>pageBits]
	i := id.Index() & (PageSlots - 1)
	for len(*page) <= i {
		*page = append(*page, 0)
	}
	(*page)[i] = row
}

// restore adds rows to a sparse component without any, for Restore.
func (x *sparseIndex) restore(w *World, k *kind, ids []netid.ID) error {
	if len(ids) > x.capacity {
		return fmt.Errorf("%w: %d entities with %s, expected at most %d", ErrRestore, len(ids), k.name,
			x.capacity)
	}
	for _, id := range ids {
		if s := w.find(id); s == nil || s.row < 0 || x.row(id) >= 0 {
			w.clearRows(k)
			return fmt.Errorf("%w: %s of entity %v", ErrRestore, k.name, id)
		}
		e := w.store.NewEntity(k.ids...)
		*(*netid.ID)(w.store.GetUnchecked(e, w.netID)) = id
		x.set(id, k.push(e)+1)
	}
	return nil
}

// bytesOf is a value as plain memory.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}
