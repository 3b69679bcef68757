package netstate

import (
	"fmt"

	"github.com/tickrate/tickrate/sim"
)

// StaticClass says how objects that a map places are replicated. Each has a slot, in the order of
// the classes, and a row that is written once a tick.
type StaticClass struct {
	Kind     Kind
	Count    func(m *sim.Match) int
	Describe func(o *ObjectState, m *sim.Match, i int) // fills all of o
}

var staticClasses = []StaticClass{
	{Teleporter, func(m *sim.Match) int { return len(m.Objects().Ports) },
		func(o *ObjectState, m *sim.Match, i int) { o.OfTeleporter(&m.Objects().Ports[i], m.Tick()) }},
	{Zone, func(m *sim.Match) int { return len(m.Objects().Zones) },
		func(o *ObjectState, m *sim.Match, i int) {
			o.OfZone(i, &m.Objects().Zones[i], &m.Objects().Occupied[i], m.Mode(), m.Game().Mode)
		}},
	{Barrel, func(m *sim.Match) int { return len(m.Scene().Barrels) },
		func(o *ObjectState, m *sim.Match, i int) { o.OfBarrel(&m.Scene().Barrels[i], m.Tick()) }},
	{Cube, func(m *sim.Match) int { return len(m.Scene().Cubes) },
		func(o *ObjectState, m *sim.Match, i int) { o.OfCube(&m.Scene().Cubes[i]) }},
}

// StaticClasses lists the classes of objects that maps place, in the order of their slots.
func StaticClasses() []StaticClass { return staticClasses }

// declareClass adds a class under a name. Only functions named init call it.
func declareClass(name string, c StaticClass) {
	if c.Kind < firstDeclared || c.Kind >= Kinds || kindNames[c.Kind] != "" {
		panic(fmt.Sprintf("netstate: class %s: %d is taken, or a row has no room for it", name, c.Kind))
	}
	kindNames[c.Kind] = name
	staticClasses = append(staticClasses, c)
}

// Public reports whether clients see objects of a class wherever they are.
func (k Kind) Public() bool { return k == Teleporter || k == Zone }
