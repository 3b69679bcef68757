package ecs

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/netid"
)

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

// SpawnFrom is Spawn in the lowest free slot from an index of the kind's page on, or in the lowest of
// all if none is free there.
func (w *World) SpawnFrom(first int, k Kind) netid.ID {
	p := w.kind(k).pool
	if index, ok := p.free.next(first); ok {
		return w.SpawnAt(index, k)
	}
	return w.Spawn(k)
}

// next is the lowest free slot from one on.
func (f *freelist) next(slot int) (int, bool) {
	for i := slot / 64; i < len(f.words); i++ {
		word := f.words[i]
		if i == slot/64 {
			word &= ^uint64(0) << (slot % 64)
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word), true
		}
	}
	return 0, false
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
