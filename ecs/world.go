package ecs

import (
	"fmt"
	"reflect"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// World holds entities in slots, their components and the resources beside them.
type World struct {
	store     arche.World
	netID     arche.ID                  // component 0 of every entity: its netid.ID
	types     map[reflect.Type]arche.ID // what Register has seen; never ranged over
	page      [pages]*pool              // slots by page of net ids; empty for those without a kind
	kinds     []kind                    // kinds[0] is no kind
	sparse    []Kind                    // kinds that are sparse components
	queue     queue
	spawned   []netid.ID
	despawned []netid.ID
	open      []*View
}

// New makes a world of at most slots entities at a time of the kinds that Kind declares, 1 <= slots
// <= PageSlots; a kind of Declare has a capacity of its own. All memory for structural changes is
// taken here, and a kind's columns where it is declared: nothing grows or allocates later, but for
// kinds beyond their reserve.
func New(slots int) *World {
	if slots < 1 || slots > PageSlots {
		panic(fmt.Sprintf("ecs: New(%d): want 1 to %d slots", slots, PageSlots))
	}
	w := &World{
		store:     arche.NewWorld(slots + 1), // arche's own entity 0 takes a place
		types:     map[reflect.Type]arche.ID{},
		kinds:     make([]kind, 1, 32),
		queue:     newQueue(slots),
		spawned:   make([]netid.ID, 0, slots),
		despawned: make([]netid.ID, 0, slots),
		open:      make([]*View, 0, 16),
	}
	w.page[0] = newPool(0, slots, slots)
	w.page[0].grow(slots - 1)
	for i, empty := 1, new(pool); i < pages; i++ {
		w.page[i] = empty
	}
	w.netID = arche.ComponentID[netid.ID](&w.store)
	return w
}

// Slots is the number of slots the world was made with: those of page 0.
func (w *World) Slots() int { return w.page[0].capacity }

// Len is the number of reserved slots of page 0: live entities and those that wait for Flush.
func (w *World) Len() int { return w.page[0].taken() }

// Alive reports whether id has a row now: from the Flush that applies its Spawn until the one that
// applies its Despawn.
func (w *World) Alive(id netid.ID) bool {
	s := w.find(id)
	return s != nil && s.row >= 0
}

// At returns the live entity in slot index, or 0.
func (w *World) At(index int) netid.ID {
	if s := w.at(index); s != nil && s.row >= 0 {
		return netid.Make(index, s.gen)
	}
	return 0
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

// find returns the slot that id still owns, or nil. Small enough to be inlined: every component
// that is read by id goes through it.
func (w *World) find(id netid.ID) *slot {
	p, i := w.page[id>>(8+pageBits)], id.Index()%PageSlots
	if i < len(p.slots) && p.slots[i].kind != 0 && p.slots[i].gen == id.Generation() {
		return &p.slots[i]
	}
	return nil
}
