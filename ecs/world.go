package ecs

import (
	"fmt"
	"reflect"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// World holds entities in a fixed number of slots, their components and the resources beside them.
type World struct {
	store     arche.World
	netID     arche.ID                  // component 0 of every entity: its netid.ID
	types     map[reflect.Type]arche.ID // what Register has seen; never ranged over
	slots     []slot                    // by netid.ID.Index
	free      freelist
	kinds     []kind // kinds[0] is no kind
	changes   []change
	spawned   []netid.ID
	despawned []netid.ID
	open      []*View
}

// slot is one index of the world.
type slot struct {
	entity arche.Entity
	row    int32 // within its kind's columns; -1 while there is none
	gen    uint8 // of the current or last life
	kind   Kind  // 0: free
	doomed bool  // Despawn is queued
}

// New makes a world of at most slots entities at a time, 1 <= slots <= netid.MaxSlots. All memory
// for structural changes is taken here, and a kind's columns where it is declared, for all slots:
// nothing grows or allocates later.
func New(slots int) *World {
	if slots < 1 || slots > netid.MaxSlots {
		panic(fmt.Sprintf("ecs: New(%d): want 1 to %d slots", slots, netid.MaxSlots))
	}
	w := &World{
		store: arche.NewWorld(slots + 1), // arche's own entity 0 takes a place
		types: map[reflect.Type]arche.ID{},
		slots: make([]slot, slots),
		free:  newFreelist(slots),
		kinds: make([]kind, 1, 16),
		// A slot can be spawned and despawned once between flushes.
		changes:   make([]change, 0, 2*slots),
		spawned:   make([]netid.ID, 0, slots),
		despawned: make([]netid.ID, 0, slots),
		open:      make([]*View, 0, 16),
	}
	for i := range w.slots {
		w.slots[i].row = -1
	}
	w.netID = arche.ComponentID[netid.ID](&w.store)
	return w
}

// Slots is the number of slots the world was made with.
func (w *World) Slots() int { return len(w.slots) }

// Len is the number of reserved slots: live entities and those that wait for Flush.
func (w *World) Len() int { return len(w.slots) - w.free.count }

// Alive reports whether id has a row now: from the Flush that applies its Spawn until the one that
// applies its Despawn.
func (w *World) Alive(id netid.ID) bool {
	s := w.find(id)
	return s != nil && s.row >= 0
}

// At returns the live entity in slot index, or 0.
func (w *World) At(index int) netid.ID {
	if index < 0 || index >= len(w.slots) || w.slots[index].row < 0 {
		return 0
	}
	return netid.Make(index, w.slots[index].gen)
}

// Row returns the row of a live entity within its kind's columns. It changes only in Flush.
func (w *World) Row(id netid.ID) (row int, ok bool) {
	s := w.find(id)
	if s == nil || s.row < 0 {
		return 0, false
	}
	return int(s.row), true
}

// KindOf returns the kind of an entity that is live or waits for Flush, 0 for a stale id.
func (w *World) KindOf(id netid.ID) Kind {
	if s := w.find(id); s != nil {
		return s.kind
	}
	return 0
}

// find returns the slot that id still owns, or nil.
func (w *World) find(id netid.ID) *slot {
	if i := id.Index(); i < len(w.slots) {
		if s := &w.slots[i]; s.kind != 0 && s.gen == id.Generation() {
			return s
		}
	}
	return nil
}
