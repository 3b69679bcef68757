package ecs

import (
	"unsafe"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// arche removes a row by moving the last one into its place. Rows of an ordered kind keep the order
// of their births: values move up over the rows that ended, and the entities of the last rows go.

// push notes the entity of a new last row.
func (k *kind) push(e arche.Entity) (row int32) {
	k.entities = append(k.entities, e)
	return int32(len(k.entities) - 1)
}

// end marks a row as ended. It goes in compact.
func (k *kind) end(w *World, row int) {
	*(*netid.ID)(w.store.GetUnchecked(k.entities[row], w.netID)) = 0
	if k.ended == 0 || row < k.firstEnded {
		k.firstEnded = row
	}
	k.ended++
}

// compact moves values up over ended rows, column by column, and removes the last entities.
func (w *World) compact(k *kind) {
	k.view.Open() // rows that ended are still there
	ids := k.view.IDs()
	to := k.firstEnded
	for from := to; from < len(ids); {
		if ids[from] == 0 {
			from++
			continue
		}
		n := 1
		for from+n < len(ids) && ids[from+n] != 0 {
			n++
		}
		k.moveRows(to, from, n)
		to, from = to+n, from+n
	}
	k.renumber(ids[:to])
	k.view.Close()
	for row := len(k.entities) - 1; row >= to; row-- {
		w.store.RemoveEntity(k.entities[row])
	}
	k.entities, k.ended = k.entities[:to], 0
}

// renumber tells the slots of ids where their rows are now.
func (k *kind) renumber(ids []netid.ID) {
	if k.sparse != nil {
		for row := k.firstEnded; row < len(ids); row++ {
			k.sparse.set(ids[row], int32(row)+1)
		}
		return
	}
	slots, entities := k.pool.slots, k.entities[:len(ids)]
	for row := k.firstEnded; row < len(ids); row++ {
		s := &slots[ids[row].Index()%PageSlots]
		s.row, s.entity = int32(row), entities[row]
	}
}

// moveRows copies n rows of all columns of the open view, from a row to an earlier one.
func (k *kind) moveRows(to, from, n int) {
	for i, id := range k.ids {
		size := k.sizes[i]
		if size == 0 {
			continue
		}
		first := k.view.query.Get(id)
		dst := unsafe.Slice((*byte)(unsafe.Add(first, to*size)), n*size)
		copy(dst, unsafe.Slice((*byte)(unsafe.Add(first, from*size)), n*size))
	}
}

// copyTo writes a value.
func copyTo(dst unsafe.Pointer, value []byte) {
	copy(unsafe.Slice((*byte)(dst), len(value)), value)
}
