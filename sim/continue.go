package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
)

// ContinueFrom makes a match that has not begun go on where another ends, on another map perhaps: its clock stands where the other's does, so
// that no tick is of both, and none of its ids is one of the other's.
func (m *Match) ContinueFrom(old *Match) {
	m.clock.Tick = old.Tick()
	m.World.ContinueIDs(old.World)
}

// JoinAt is Join in the slot with an index, or Watch if watches: for those who come over from another match. It returns 0 if the slot
// is taken.
func (m *Match) JoinAt(slot int) netid.ID { return m.addPlayer(m.World.SpawnAt(slot, m.player), 0) }

// JoinSpectatorAt is JoinAt for a spectator.
func (m *Match) JoinSpectatorAt(slot int) netid.ID {
	return m.addPlayer(m.World.SpawnAt(slot, m.player), spectator)
}
