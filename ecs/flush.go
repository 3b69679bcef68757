package ecs

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// Spawn reserves the lowest free slot for an entity of kind k and queues its birth; the id is good
// at once (for owners, events, messages), the row comes with the next Flush, zeroed but for what
// Comp.Set queues. It returns 0 when every slot is taken, and counts that: see Refused.
func (w *World) Spawn(k Kind) netid.ID {
	kind := w.kind(k)
	if kind.sparse != nil {
		panic("ecs: Spawn: " + kind.name + " is a sparse component: want a kind; the component is added to an entity")
	}
	index, ok := kind.pool.free.take()
	if !ok {
		kind.refused++
		return 0
	}
	return w.reserve(kind.pool, index, k)
}

// reserve queues the birth in a slot that is not free any more.
func (w *World) reserve(p *pool, index int, k Kind) netid.ID {
	p.grow(index)
	s := &p.slots[index]
	s.gen = s.gen%255 + 1
	s.kind = k
	id := netid.Make(p.first+index, s.gen)
	w.queue.push(change{id: id, op: opSpawn, kind: k}, nil)
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
	w.queue.push(change{id: id, op: opDespawn, kind: s.kind}, nil)
	return true
}

// DespawnAll is Despawn of every entity of a kind that has its page for itself, also of those that
// wait for their row.
func (w *World) DespawnAll(k Kind) {
	p := w.kind(k).pool
	for i := range p.slots {
		if s := &p.slots[i]; s.kind == k {
			w.Despawn(netid.Make(p.first+i, s.gen))
		}
	}
}

// Flush applies the queued changes in the order they were queued and is the only place where rows
// come, go or move. A birth takes the row after the last. A death moves the last row into its
// place, and in a kind of Declare all later rows up. It panics while a view is open.
func (w *World) Flush() {
	w.mustBeClosed("Flush")
	w.spawned, w.despawned = w.spawned[:0], w.despawned[:0]
	for i := range w.queue.changes {
		w.apply(&w.queue.changes[i])
	}
	w.queue.clear()
	for i := range w.kinds {
		k := &w.kinds[i]
		if k.ended > 0 {
			w.compact(k)
		}
		if k.moved {
			w.refresh(k)
		}
	}
}

// apply applies one change.
func (w *World) apply(c *change) {
	switch c.op {
	case opSpawn:
		w.birth(w.at(c.id.Index()), c.id)
	case opDespawn:
		w.death(w.at(c.id.Index()), c.id)
	case opSet:
		if s := w.find(c.id); s != nil && s.row >= 0 {
			copyTo(w.store.GetUnchecked(s.entity, c.comp), w.queue.value(c))
		}
	case opAdd:
		w.attach(&w.kinds[c.kind], c)
	case opRemove:
		w.kinds[c.kind].detach(w, c.id)
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
	if k.ordered {
		s.row = k.push(s.entity)
	} else {
		s.row = 0 // refresh corrects it
		k.moved = true
	}
	w.spawned = append(w.spawned, id)
}

func (w *World) death(s *slot, id netid.ID) {
	if s.row >= 0 {
		k := &w.kinds[s.kind]
		if k.ordered {
			k.end(w, int(s.row))
		} else {
			w.store.RemoveEntity(s.entity)
			k.moved = true
		}
		for _, c := range w.sparse {
			w.kinds[c].detach(w, id)
		}
		w.despawned = append(w.despawned, id)
	}
	p := w.kinds[s.kind].pool
	s.row, s.kind, s.doomed = -1, 0, false
	p.free.give(id.Index() - p.first)
}

// refresh reads the rows of a kind back from its column of ids, rather than trusting a model of how
// arche moves rows. It costs about a nanosecond a row, in ticks where somebody came or went.
func (w *World) refresh(k *kind) {
	k.moved = false
	if !k.view.Open() {
		return
	}
	for row, id := range k.view.IDs() {
		k.pool.slots[id.Index()-k.pool.first].row = int32(row)
	}
	k.view.Close()
}

func (w *World) mustBeClosed(what string) {
	if len(w.open) != 0 {
		panic("ecs: " + what + " while a view is open: Close the view of " + w.open[0].name + " first, want none open")
	}
}
