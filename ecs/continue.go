package ecs

import "github.com/tickrate/tickrate/ecs/netid"

// ContinueIDs makes the ids of page 0 of an empty world go on where those of another end: no id of
// the one names an entity of the other, for 254 lives of a slot.
func (w *World) ContinueIDs(old *World) {
	to, from := w.page[0].slots, old.page[0].slots
	for i := range min(len(to), len(from)) {
		to[i].gen = from[i].gen
	}
}

// SpawnAt is Spawn in the slot with an index of the kind's page, from 0; 0 if it is taken, or there
// is none.
func (w *World) SpawnAt(index int, k Kind) netid.ID {
	p := w.kind(k).pool
	if index < 0 || index >= p.capacity || !p.free.takeAt(index) {
		return 0
	}
	return w.reserve(p, index, k)
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
