package ecs

import arche "github.com/mlange-42/arche/ecs"

// Kind is a set of components declared once under a name; each entity has one for its whole life. 0
// is none.
type Kind uint8

// kind is what the world keeps of a Kind.
type kind struct {
	name  string
	ids   []arche.ID // of the components, the world's netid.ID first
	view  *View
	moved bool // rows came, went or moved since the last refresh
}

// Kind declares the kind called name with exactly these components (the NetID is kept beside them,
// do not name it). It panics if the name or the same set is taken, since two kinds of one set would
// share their columns: add an empty struct type as a tag to tell them apart. At most 255 kinds;
// declare them before the first tick.
func (w *World) Kind(name string, comps ...Component) Kind {
	w.mustBeClosed("Kind " + name)
	if len(w.kinds) > 255 {
		panic("ecs: Kind " + name + ": 255 kinds are declared")
	}
	ids := w.componentSet("Kind "+name, comps)
	mask := arche.All(ids...)
	for _, k := range w.kinds[1:] {
		if k.name == name {
			panic("ecs: Kind " + name + " declared twice")
		}
		if arche.All(k.ids...) == mask {
			panic("ecs: Kind " + name + " has the components of " + k.name + ": add a tag to one of them")
		}
	}
	w.store.RemoveEntity(w.store.NewEntity(ids...)) // makes arche take the columns' memory now
	w.kinds = append(w.kinds, kind{name: name, ids: ids, view: newView(w, name, ids)})
	return Kind(len(w.kinds) - 1)
}

// View returns the view of the kind. There is one for each kind.
func (w *World) View(k Kind) *View { return w.kind(k).view }

// KindName returns the name k was declared with.
func (w *World) KindName(k Kind) string { return w.kind(k).name }

func (w *World) kind(k Kind) *kind {
	if k == 0 || int(k) >= len(w.kinds) {
		panic("ecs: not a declared kind")
	}
	return &w.kinds[k]
}

// componentSet checks a list of components and puts the world's NetID in front.
func (w *World) componentSet(what string, comps []Component) []arche.ID {
	ids := append(make([]arche.ID, 0, len(comps)+1), w.netID)
	seen := arche.All(w.netID)
	for _, c := range comps {
		owner, id := c.component()
		if owner != w {
			panic("ecs: " + what + ": a component is not registered in this world")
		}
		if seen.Get(id) {
			panic("ecs: " + what + ": a component is named twice")
		}
		seen.Set(id, true)
		ids = append(ids, id)
	}
	return ids
}
