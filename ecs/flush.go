package ecs

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// change is a queued structural change.
type change struct {
	id    netid.ID
	spawn bool
}

// Spawn reserves the lowest free slot for an entity of kind k and queues its birth; the id is good
// at once (for owners, events, messages), the row comes with the next Flush, zeroed. It returns 0
// when every slot is taken.
func (w *World) Spawn(k Kind) netid.ID {
	w.kind(k)
	index, ok := w.free.take()
	if !ok {
		return 0
	}
	return w.reserve(index, k)
}

// reserve queues the birth in a slot that is not free any more.
func (w *World) reserve(index int, k Kind) netid.ID {
	s := &w.slots[index]
	s.gen = s.gen%255 + 1
	s.kind = k
	id := netid.Make(index, s.gen)
	w.changes = append(w.changes, change{id, true})
	return id
}

// Despawn queues the end of id and reports whether there was something to end: false for a stale id
// or one already queued. The row stays until the next Flush; the slot is free after it. An entity
// despawned before the Flush of its Spawn never gets a row.
func (w *World) Despawn(id netid.ID) bool {
	s := w.find(id)
	if s == nil || s.doomed {
		return false
	}
	s.doomed = true
	w.changes = append(w.changes, change{id, false})
	return true
}

// Flush applies the queued changes in the order they were queued and is the only place where rows
// come, go or move: a birth takes the row after the last, a death moves the last row into its
// place. It panics while a view is open.
func (w *World) Flush() {
	w.mustBeClosed("Flush")
	w.spawned, w.despawned = w.spawned[:0], w.despawned[:0]
	for _, c := range w.changes {
		if s := &w.slots[c.id.Index()]; c.spawn {
			w.birth(s, c.id)
		} else {
			w.death(s, c.id)
		}
	}
	w.changes = w.changes[:0]
	for i := range w.kinds {
		if k := &w.kinds[i]; k.moved {
			w.refresh(k)
		}
	}
}

// Spawned lists the ids that got their row in the last Flush, in queue order; valid until the next
// Flush.
func (w *World) Spawned() []netid.ID { return w.spawned }

// Despawned lists the ids that lost their row in the last Flush, in queue order; valid until the
// next Flush.
func (w *World) Despawned() []netid.ID { return w.despawned }

func (w *World) birth(s *slot, id netid.ID) {
	if s.doomed {
		return
	}
	k := &w.kinds[s.kind]
	s.entity = w.store.NewEntity(k.ids...)
	*(*netid.ID)(w.store.GetUnchecked(s.entity, w.netID)) = id
	s.row = 0 // refresh corrects it
	k.moved = true
	w.spawned = append(w.spawned, id)
}

func (w *World) death(s *slot, id netid.ID) {
	if s.row >= 0 {
		w.store.RemoveEntity(s.entity)
		w.kinds[s.kind].moved = true
		w.despawned = append(w.despawned, id)
	}
	s.row, s.kind, s.doomed = -1, 0, false
	w.free.give(id.Index())
}

// refresh reads the rows of a kind back from its column of ids, rather than trusting a model of how
// arche moves rows. It costs about a nanosecond a row, in ticks where somebody came or went.
func (w *World) refresh(k *kind) {
	k.moved = false
	if !k.view.Open() {
		return
	}
	for row, id := range k.view.IDs() {
		w.slots[id.Index()].row = int32(row)
	}
	k.view.Close()
}

func (w *World) mustBeClosed(what string) {
	if len(w.open) != 0 {
		panic("ecs: " + what + " while a view is open: Close the view of " + w.open[0].name + " first")
	}
}
