package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/mode"
)

// Owner is the component of an entity that belongs to a player: a pet and its master. The player
// decides for it who is a friend, and gets the credit for what it does.
type Owner struct{ ID netid.ID }

// maxOwners is how many owners Root follows.
const maxOwners = 4

// Root is the player that answers for an entity: a player answers for itself, the shooter for its
// projectiles and grenades, and an owner for what it owns, through at most maxOwners owners. It is 0
// for an entity that belongs to no player.
func (m *Match) Root(id netid.ID) netid.ID {
	for range maxOwners {
		if m.World.KindOf(id) == m.player {
			return id
		}
		switch p, g, o := m.projectile.Get(id), m.grenade.Get(id), m.owner.Get(id); {
		case p != nil:
			id = p.Owner
		case g != nil:
			id = g.Owner
		case o != nil:
			id = o.ID
		default:
			return 0
		}
	}
	return 0
}

// Hostile reports whether players of two teams may hurt each other. Spectators have no team.
func Hostile(a, b uint8) bool { return a != b && a < mode.Teams && b < mode.Teams }

// Harms reports whether an entity harms a player: if the player that answers for it is hostile to
// that one. What belongs to nobody harms nobody.
func (m *Match) Harms(id, victim netid.ID) bool {
	by, at := m.vital.Get(m.Root(id)), m.vital.Get(victim)
	return by != nil && at != nil && at.Alive() && Hostile(by.Team, at.Team)
}
