package ecs

import (
	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// op is what a queued change does.
type op uint8

const (
	opSpawn   op = iota
	opDespawn    // also removes the sparse components of the entity
	opSet        // writes a component
	opAdd        // of a sparse component
	opRemove     // of a sparse component
)

// change is a queued structural change, or a value that waits with it.
type change struct {
	id       netid.ID
	op       op
	kind     Kind     // of the entity, or of the sparse component
	comp     arche.ID // of opSet and opAdd
	at, size uint32   // of its value, in queue.values
}

// queue holds changes in the order in which they were asked for, and their values.
type queue struct {
	changes []change
	values  []byte
}

// newQueue takes memory for a world of n slots: each can be spawned and despawned once between
// flushes.
func newQueue(n int) queue {
	return queue{changes: make([]change, 0, 2*n), values: make([]byte, 0, 64*n)}
}

// push queues a change with a value.
func (q *queue) push(c change, value []byte) {
	c.at, c.size = uint32(len(q.values)), uint32(len(value))
	q.values = append(q.values, value...)
	q.changes = append(q.changes, c)
}

// value is the value of a change.
func (q *queue) value(c *change) []byte { return q.values[c.at:][:c.size] }

// clear empties the queue.
func (q *queue) clear() { q.changes, q.values = q.changes[:0], q.values[:0] }

// Pending is how many structural changes wait for Flush.
func (w *World) Pending() int { return len(w.queue.changes) }

// Queued is how many changes wait that add, remove or write rows of a kind.
func (w *World) Queued(k Kind) (n int) {
	for i := range w.queue.changes {
		if w.queue.changes[i].kind == k {
			n++
		}
	}
	return n
}

// Changes calls yield with the spawns and despawns that the next Flush will apply, in the order in
// which they were queued: ids that are born, or that end. A copy of the world is kept by them.
func (w *World) Changes(yield func(id netid.ID, born bool)) {
	for i := range w.queue.changes {
		if c := &w.queue.changes[i]; c.op <= opDespawn {
			yield(c.id, c.op == opSpawn)
		}
	}
}
