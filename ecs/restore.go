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

// Pending is how many structural changes wait for Flush.
func (w *World) Pending() int { return len(w.changes) }

// Generations appends the generation of the current or last life of every slot to dst. Together
// with the live ids it decides which ids later Spawns return.
func (w *World) Generations(dst []uint8) []uint8 {
	for i := range w.slots {
		dst = append(dst, w.slots[i].gen)
	}
	return dst
}

// Restore gives an empty world the entities ids, all of kind k, row by row in this order, and to
// every slot the generation of its current or last life. Components are zero. The error wraps
// ErrRestore, and then nothing has changed. Between two Flushes, row order and generations are the
// whole state besides components.
func (w *World) Restore(k Kind, ids []netid.ID, generations []uint8) error {
	w.kind(k)
	w.mustBeClosed("Restore")
	if w.Len() != 0 || len(w.changes) != 0 {
		return fmt.Errorf("%w: it is in use", ErrRestore)
	}
	if len(generations) != len(w.slots) {
		return fmt.Errorf("%w: %d slots, expected %d", ErrRestore, len(generations), len(w.slots))
	}
	taken := make([]bool, len(w.slots))
	for _, id := range ids {
		i := id.Index()
		if i >= len(w.slots) || taken[i] || id.Generation() == 0 || id.Generation() != generations[i] {
			return fmt.Errorf("%w: entity %v", ErrRestore, id)
		}
		taken[i] = true
	}
	w.free = freelist{words: make([]uint64, len(w.free.words))}
	for i := range w.slots {
		w.slots[i].gen = generations[i]
		if !taken[i] {
			w.free.give(i)
		}
	}
	w.free.first = 0
	for _, id := range ids {
		w.slots[id.Index()].kind = k
		w.birth(&w.slots[id.Index()], id)
	}
	w.spawned = w.spawned[:0]
	w.refresh(&w.kinds[k])
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
	for _, id := range v.ids {
		if id == v.world.netID {
			continue
		}
		t := v.world.typeOf(id)
		bytes := unsafe.Slice((*byte)(v.query.Get(id)), v.rows*int(t.Size()))
		dst = append(dst, Memory{t, bytes})
	}
	return dst
}

// Types lists the types of the components of a view's kind, in the order of Columns.
func (v *View) Types() (types []reflect.Type) {
	for _, id := range v.ids {
		if id != v.world.netID {
			types = append(types, v.world.typeOf(id))
		}
	}
	return types
}

func (w *World) typeOf(id arche.ID) reflect.Type {
	info, _ := arche.ComponentInfo(&w.store, id)
	return info.Type
}
