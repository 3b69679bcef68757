package ecs

import arche "github.com/mlange-42/arche/ecs"

// SetResource makes r the world's one T, in place of an earlier one. The world keeps the pointer.
func SetResource[T any](w *World, r *T) {
	id := arche.ResourceID[T](&w.store)
	if w.store.Resources().Has(id) {
		w.store.Resources().Remove(id)
	}
	w.store.Resources().Add(id, r)
}

// Resource returns the world's one T, or nil if none was set. Systems keep their state here, not in
// themselves.
func Resource[T any](w *World) *T {
	r, _ := w.store.Resources().Get(arche.ResourceID[T](&w.store)).(*T)
	return r
}
