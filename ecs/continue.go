package ecs

import "github.com/tickrate/tickrate/ecs/netid"

// ContinueIDs makes the ids of an empty world go on where those of another end: no id of the one
// names an entity of the other, for 254 lives of a slot.
func (w *World) ContinueIDs(old *World) {
	for i := range min(len(w.slots), len(old.slots)) {
		w.slots[i].gen = old.slots[i].gen
	}
}

// SpawnAt is Spawn in the slot with an index; 0 if it is taken, or there is none.
func (w *World) SpawnAt(index int, k Kind) netid.ID {
	w.kind(k)
	if index < 0 || index >= len(w.slots) || !w.free.takeAt(index) {
		return 0
	}
	return w.reserve(index, k)
}

// takeAt takes a slot if it is free.
func (f *freelist) takeAt(slot int) bool {
	if f.words[slot/64]>>(slot%64)&1 == 0 {
		return false
	}
	f.words[slot/64] &^= 1 << (slot % 64)
	f.count--
	return true
}
