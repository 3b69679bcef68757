package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/object"
)

// Fired is the tag of kinds whose entities players fire: all of them end with a round.
type Fired struct{}

// maxFlights is the most projectiles, and the most grenades, of a match.
const maxFlights = 1 << 16

// flightCapacity is the capacity of a kind that players fire: no weapon fills 64 for each player.
func flightCapacity(reserve int) func(int) (int, int) {
	return func(slots int) (int, int) { return min(64*slots, maxFlights), min(reserve*slots, maxFlights) }
}

func init() {
	declareKind(&kindSpec{
		name: "projectile", page: pageProjectile, datum: dProjectiles,
		columns:  []columnSpec{column[object.Projectile](full), column[Fired](derived)},
		capacity: flightCapacity(4),
		bind:     func(m *Match) { m.objects.Projectiles = rowsOf[object.Projectile](m, pageProjectile) },
		valid: func(m *Match) error {
			for i := range m.objects.Projectiles {
				p := &m.objects.Projectiles[i]
				if !p.Valid() || int(p.Type) >= len(m.kit.ProjectileKinds) ||
					!m.inRow(pageProjectile, p.ID, i) {
					return wrong("projectile", *p)
				}
			}
			return nil
		},
	})
	declareKind(&kindSpec{
		name: "grenade", page: pageGrenade, datum: dGrenades,
		columns:  []columnSpec{column[object.Grenade](full), column[Fired](derived)},
		capacity: flightCapacity(1),
		bind:     func(m *Match) { m.objects.Grenades = rowsOf[object.Grenade](m, pageGrenade) },
		valid: func(m *Match) error {
			for i := range m.objects.Grenades {
				g := &m.objects.Grenades[i]
				if !g.Valid() || int(g.Type) >= len(m.kit.GrenadeKinds) || !m.inRow(pageGrenade, g.ID, i) {
					return wrong("grenade", *g)
				}
			}
			return nil
		},
	})
}

// inRow reports whether an id is that of a row of a kind.
func (m *Match) inRow(page int, id netid.ID, row int) bool {
	at, ok := m.World.Row(id)
	return ok && at == row && m.World.KindOf(id) == m.kinds[page]
}

// launch spawns a projectile, whose row comes with the end of the tick.
func (m *Match) launch(t object.Trajectory, view tick.View) netid.ID {
	id := m.spawn(pageProjectile)
	m.projectile.Set(id, object.Launch(id, t, view))
	return id
}

// spawn spawns an entity of a kind. At the capacity of the kind it returns 0, and counts that.
func (m *Match) spawn(page int) netid.ID {
	id := m.World.Spawn(m.kinds[page])
	if id == 0 {
		m.outcome.Refused++
	}
	return id
}

// throw spawns a grenade, as launch does a projectile.
func (m *Match) throw(g object.Grenade) netid.ID {
	g.ID = m.spawn(pageGrenade)
	m.grenade.Set(g.ID, object.Throw(g))
	return g.ID
}

// firedKinds are the kinds whose entities end with a round.
func (m *Match) firedKinds() []ecs.Kind {
	return m.World.Kinds(nil, ecs.Filter{With: []ecs.Component{ecs.CompOf[Fired](m.World)}})
}
