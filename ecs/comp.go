package ecs

import (
	"reflect"

	arche "github.com/mlange-42/arche/ecs"

	"github.com/tickrate/tickrate/ecs/netid"
)

// Comp names component type T within one world. Only Register makes a useful one, which is why a
// column's element type is always the registered type.
type Comp[T any] struct {
	world *World
	id    arche.ID
}

// Component is any Comp, for lists of them.
type Component interface {
	component() (*World, arche.ID)
}

func (c Comp[T]) component() (*World, arche.ID) { return c.world, c.id }

// Register makes T known as a component; again for the same T it returns the same Comp. At most 255
// types. It panics for types that hold pointers (components are plain memory: they are copied,
// hashed and rewound as such), for arche relations (they split a kind over several archetypes) and
// while a view is open.
func Register[T any](w *World) Comp[T] {
	t := reflect.TypeFor[T]()
	w.mustBeClosed("Register " + t.String())
	if t == reflect.TypeFor[netid.ID]() {
		panic("ecs: Register netid.ID: it is the world's own component, want View.IDs in its place")
	}
	if isRelation(t) {
		panic("ecs: Register " + t.String() + ": a relation has no single column, want a plain struct")
	}
	if holdsPointers(t) {
		panic("ecs: Register " + t.String() +
			": components hold no pointers, strings, slices or maps: want a resource in its place")
	}
	id := arche.ComponentID[T](&w.store)
	w.types[t] = id
	return Comp[T]{w, id}
}

// Get returns the component of a live entity, or nil if the id is stale, not yet flushed or of a
// kind without T. The pointer may be used until the next Flush.
func (c Comp[T]) Get(id netid.ID) *T {
	if c.world == nil {
		panic("ecs: Get of " + reflect.TypeFor[T]().String() + ": want a component that Register returned")
	}
	s := c.world.find(id)
	if s == nil || s.row < 0 {
		return nil
	}
	return (*T)(c.world.store.GetUnchecked(s.entity, c.id))
}

// Set queues a value for the component of an entity, which has it after the next Flush: a spawn and
// the values of its components go together. It reports false for a stale id, and panics for a kind
// without T.
func (c Comp[T]) Set(id netid.ID, v T) bool {
	if c.world == nil {
		panic("ecs: Set of " + reflect.TypeFor[T]().String() + ": want a component that Register returned")
	}
	s := c.world.find(id)
	if s == nil {
		return false
	}
	if k := &c.world.kinds[s.kind]; !k.view.mask.Get(c.id) {
		panic("ecs: Set: kind " + k.name + " has no component " + reflect.TypeFor[T]().String() + ": want one it was declared with")
	}
	c.world.queue.push(change{id: id, op: opSet, kind: s.kind, comp: c.id}, bytesOf(&v))
	return true
}

// CompOf is the component of type T that Register has made known. It panics if it has not.
func CompOf[T any](w *World) Comp[T] {
	id, ok := w.types[reflect.TypeFor[T]()]
	if !ok {
		panic("ecs: CompOf: " + reflect.TypeFor[T]().String() + " is not a registered component: want Register before")
	}
	return Comp[T]{w, id}
}

func isRelation(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() > 0 &&
		t.Field(0).Type == reflect.TypeFor[arche.Relation]()
}

func holdsPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && holdsPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Complex128
	}
}
