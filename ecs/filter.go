package ecs

import (
	"fmt"
	arche "github.com/mlange-42/arche/ecs"
)

// Filter chooses kinds by their components: those that have all of With and none of Without. The
// zero Filter chooses all.
type Filter struct{ With, Without []Component }

// Kinds appends the kinds that f chooses to dst, in the order in which they were declared. As an
// entity keeps its kind, the answer holds for the world's life; a query is a loop over their views.
// It panics for components that are not registered in this world.
func (w *World) Kinds(dst []Kind, f Filter) []Kind {
	with, without := w.maskOf("Kinds", f.With), w.maskOf("Kinds", f.Without)
	for i := range w.kinds[1:] {
		if w.kinds[1+i].sparse != nil {
			continue
		}
		if has := arche.All(w.kinds[1+i].ids...); has.Contains(&with) && !has.ContainsAny(&without) {
			dst = append(dst, Kind(1+i))
		}
	}
	return dst
}

// maskOf is a set of components, which may be empty.
func (w *World) maskOf(what string, comps []Component) (mask arche.Mask) {
	for i, c := range comps {
		owner, id := c.component()
		if owner != w {
			panic(fmt.Sprintf("ecs: %s: component %d, %T, is of another world: want what Register returned", what, i, c))
		}
		mask.Set(id, true)
	}
	return mask
}
