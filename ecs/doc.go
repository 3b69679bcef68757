// Package ecs is the world: its entities and their components. Kinds, spawns and despawns go in;
// columns of plain structs come out. One goroutine calls it; it starts none, reads no clock and
// exposes no map order, so the same calls give the same ids and the same rows on every machine.
//
// Entities live in arche, which is fenced in here. A Kind is a fixed set of components declared
// once; every entity of a kind is one row of that kind's columns, and a View hands out whole
// columns as slices:
//
//	w := ecs.New(1024)
//	pos, vel := ecs.Register[Pos](w), ecs.Register[Vel](w)
//	player := w.Kind("player", pos, vel)
//	id := w.Spawn(player) // reserved now, a row after the next Flush
//	w.Flush()
//	if v := w.View(player); v.Open() {
//		integrate(ecs.Column(v, pos), ecs.Column(v, vel), dt)
//		v.Close()
//	}
//
// # Ids, capacity and order
//
// Kinds of Kind share the slots of New, and a removal moves their last row into the hole. A kind of
// Declare has a page of net ids, a capacity, and rows that keep the order of their spawns. A spawn
// beyond a capacity returns 0 and is counted.
//
// # Components that come and go
//
// A Sparse component is added to living entities and removed from them. It has rows of its own, so
// that columns of a kind stay whole. Spawns, despawns, first values, additions and removals wait in
// one queue for Flush, which applies them in their order.
//
// # The life of a slice
//
// A column is arche's own memory, not a copy. It may be used until its view is closed, and never
// across a Flush: growth moves a column and leaves the old memory readable, a removal moves the
// last row into the hole. Flush panics while any view is open, because that is the one mistake
// which would otherwise go unseen.
//
// # Layout we rest upon
//
// arche v0.15.3 promises no columns; it keeps them contiguous. The tests pin all conditions under
// which that is true (one archetype a view, no relation, exact component type, and so on) and
// compare columns with arche's own Query.
package ecs
