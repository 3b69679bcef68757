package mapcheck

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/move"
)

// thing is a place of the map that players must be able to get to.
type thing struct {
	name   string
	at     geom.Vec3
	enters bool // a body stands there: it must fit
}

// things lists the places of a map that players must get to.
func things(m *content.Map) (all []thing) {
	if m == nil {
		return nil
	}
	for _, p := range m.Points {
		all = append(all, thing{"capture point " + p.Name, p.At, true})
	}
	for i, b := range m.Barrels {
		all = append(all, thing{fmt.Sprintf("barrel %d", i), b.At, false})
	}
	for i, c := range m.Cubes {
		all = append(all, thing{fmt.Sprintf("cube %d", i), c.At, false})
	}
	for i, p := range m.Teleporters {
		foot := geom.Vec3{X: (p.Box.Min.X + p.Box.Max.X) / 2, Y: p.Box.Min.Y, Z: (p.Box.Min.Z + p.Box.Max.Z) / 2}
		all = append(all, thing{fmt.Sprintf("teleporter %d", i), foot, false},
			thing{fmt.Sprintf("target of teleporter %d", i), p.Target, true})
	}
	return all
}

// touchRange is how near players must get to a thing, metres over the ground.
const touchRange = 1.5

// checkThing reports a place inside a solid, or one that the fill did not come near.
func (r *Report) checkThing(f *flood, t *thing) {
	if t.enters {
		if s, ok := overlapped(f.a, &f.params, move.NoTeam, t.at); ok {
			r.add(ObjectInWall, t.at, "%s: a body there reaches into %s", t.name, solidName(&s))
			return
		}
		if n, ok := crossed(f.a, &f.params, t.at); ok {
			r.add(MoverInTheWay, t.at, "movers[%d] comes to %s", n, t.name)
		}
	}
	x, z := f.index(t.at)
	around := int(touchRange/f.square) + 1
	for dz := -around; dz <= around; dz++ {
		for dx := -around; dx <= around; dx++ {
			if f.floorAt(x+dx, z+dz, t.at.Y, touchRange) != nil {
				return
			}
		}
	}
	r.add(ObjectCutOff, t.at, "%s: players get no nearer than %g m", t.name, touchRange)
}
