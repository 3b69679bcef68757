package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// ContinueFrom makes a match that has not begun continue another, perhaps on another map: its
// clock starts where the other's ends, so that no tick belongs to both, and its ids differ from
// the other's.
func (m *Match) ContinueFrom(old *Match) {
	m.clock.Tick = old.Tick()
	m.World.ContinueIDs(old.World)
}

// JoinAt is Join in the slot with an index, for players that come from another match. It returns 0
// if the slot is taken.
func (m *Match) JoinAt(slot int) netid.ID { return m.addPlayer(m.World.SpawnAt(slot, m.player), 0) }

// JoinSpectatorAt is JoinAt for a spectator.
func (m *Match) JoinSpectatorAt(slot int) netid.ID {
	return m.addPlayer(m.World.SpawnAt(slot, m.player), spectator)
}
