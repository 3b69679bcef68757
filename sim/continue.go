package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/mode"
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

// JoinFrom is Join in the lowest free slot from one on, or in the lowest of all if none is free there.
func (m *Match) JoinFrom(slot int) netid.ID {
	return m.addPlayer(m.World.SpawnFrom(slot, m.player), 0)
}

// JoinSpectatorFrom is JoinFrom for a spectator.
func (m *Match) JoinSpectatorFrom(slot int) netid.ID {
	return m.addPlayer(m.World.SpawnFrom(slot, m.player), spectator)
}

// NextTeam is the team of the next player to join, if nobody leaves before the end of the tick.
func (m *Match) NextTeam() uint8 {
	members := m.Score().Members
	m.World.Changes(func(id netid.ID, born bool) {
		if born && m.World.KindOf(id) == m.player && m.spawns.joinAs[id.Index()] != spectator {
			members[mode.Assign(members)]++
		}
	})
	return mode.Assign(members)
}

// JoinSpectatorAt is JoinAt for a spectator.
func (m *Match) JoinSpectatorAt(slot int) netid.ID {
	return m.addPlayer(m.World.SpawnAt(slot, m.player), spectator)
}
