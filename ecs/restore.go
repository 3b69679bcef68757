package ecs

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// ErrRestore says that rows are no state of this world.
var ErrRestore = errors.New("ecs: not a state of this world")

// Generations appends the generation of the current or last life of every slot that a kind's page
// has had, to dst. Together with the live ids it decides which ids later Spawns return. A sparse
// component has none.
func (w *World) Generations(k Kind, dst []uint8) []uint8 {
	if p := w.kind(k).pool; p != nil {
		for i := range p.slots {
			dst = append(dst, p.slots[i].gen)
		}
	}
	return dst
}

// clearRows removes the rows of a sparse component.
func (w *World) clearRows(k *kind) {
	for row := len(k.entities) - 1; row >= 0; row-- {
		w.store.RemoveEntity(k.entities[row])
	}
	k.entities = k.entities[:0]
	for i := range k.sparse.rows {
		clear(k.sparse.rows[i])
	}
}

// Restore gives a kind whose page is empty the entities ids, row by row in this order, and to every
// slot the generation of its current or last life. Components are zero. Of a sparse component ids
// are the entities that have it. The error wraps ErrRestore, and then nothing has changed. Between
// two Flushes, row order and generations are the whole state besides components.
func (w *World) Restore(k Kind, ids []netid.ID, generations []uint8) error {
	kind := w.kind(k)
	w.mustBeClosed("Restore")
	if kind.sparse != nil {
		if len(generations) != 0 || len(kind.entities) != 0 {
			return fmt.Errorf("%w: %s: %d generations, %d rows, expected none", ErrRestore, kind.name,
				len(generations), len(kind.entities))
		}
		return kind.sparse.restore(w, kind, ids)
	}
	p := kind.pool
	if p.taken() != 0 || len(w.queue.changes) != 0 {
		return fmt.Errorf("%w: it is in use", ErrRestore)
	}
	if n := len(generations); n > p.capacity || !kind.ordered && n != p.capacity {
		return fmt.Errorf("%w: %d slots of %s, expected %d", ErrRestore, n, kind.name, p.capacity)
	}
	taken := make([]bool, len(generations))
	for _, id := range ids {
		i := id.Index() - p.first
		if i < 0 || i >= len(generations) || taken[i] || id.Generation() == 0 ||
			id.Generation() != generations[i] {
			return fmt.Errorf("%w: %s: entity %v", ErrRestore, kind.name, id)
		}
		taken[i] = true
	}
	p.grow(len(generations) - 1)
	for i := range p.slots {
		p.slots[i].gen = 0
	}
	for i, gen := range generations {
		if p.slots[i].gen = gen; taken[i] {
			p.free.takeAt(i)
		}
	}
	for _, id := range ids {
		s := w.at(id.Index())
		s.kind = k
		w.birth(s, id)
	}
	w.spawned = w.spawned[:0]
	w.refresh(kind)
	return nil
}

// Memory is one column as plain memory.
type Memory struct {
	Type  reflect.Type // of an element
	Bytes []byte       // all rows; padding included. Valid until Close
}

// Columns appends the columns of an open view, in the order in which its kind was declared and
// without the ids, to dst. It is for what treats every component alike, as saving does.
func (v *View) Columns(dst []Memory) []Memory {
	v.mustBeOpen("Columns")
	for i, t := range v.types {
		bytes := unsafe.Slice((*byte)(v.query.Get(v.ids[i+1])), v.rows*int(t.Size()))
		dst = append(dst, Memory{t, bytes})
	}
	return dst
}

func (w *World) typeOf(id arche.ID) reflect.Type {
	info, _ := arche.ComponentInfo(&w.store, id)
	return info.Type
}
