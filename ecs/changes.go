package ecs

import "github.com/tickrate/tickrate/ecs/netid"

// Changes calls yield with the changes that the next Flush will apply, in the order in which they
// were queued: ids that are born, or that end. Who plays the same world a second time asks for it.
func (w *World) Changes(yield func(id netid.ID, born bool)) {
	for _, c := range w.changes {
		yield(c.id, c.spawn)
	}
}
