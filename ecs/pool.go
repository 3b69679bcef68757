package ecs

import (
	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// PageSlots is how many indexes a page of net ids has. Page 0 belongs to kinds without a capacity
// of their own; Declare gives each other kind a page.
const PageSlots = 1 << pageBits

const (
	pageBits = 20
	pages    = netid.MaxSlots >> pageBits
)

// slot is one index of the world.
type slot struct {
	entity arche.Entity
	row    int32 // within its kind's columns; -1 while there is none
	gen    uint8 // of the current or last life
	kind   Kind  // 0: free
	doomed bool  // Despawn is queued
}

// pool is the slots of one page. The lowest free slot is taken first, so the number of slots in use
// grows up to the capacity.
type pool struct {
	first    int // index of slots[0]
	capacity int
	slots    []slot
	free     freelist
}

func newPool(first, capacity, reserve int) *pool {
	return &pool{first: first, capacity: capacity, slots: make([]slot, 0, reserve),
		free: newFreelist(capacity)}
}

// grow makes slots up to index i exist.
func (p *pool) grow(i int) {
	for len(p.slots) <= i {
		p.slots = append(p.slots, slot{row: -1})
	}
}

// taken is the number of slots that are not free.
func (p *pool) taken() int { return p.capacity - p.free.count }

// at is the slot of an index, nil if there is none.
func (w *World) at(index int) *slot {
	if uint(index) >= netid.MaxSlots {
		return nil
	}
	p := w.page[index>>pageBits]
	if i := index % PageSlots; i < len(p.slots) {
		return &p.slots[i]
	}
	return nil
}
