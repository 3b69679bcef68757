package sim

import (
	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

var zero geom.Vec3

// enter sets up the row of a player who has just joined.
func (m *Match) enter(id ecs.NetID) {
	s := m.Score()
	team := uint8(0)
	if s.Members[1] < s.Members[0] {
		team = 1
	}
	s.Members[team]++
	r := m.Rules()
	*m.vital.Get(id) = Vital{Health: r.Health, Team: team}
	*m.weapon.Get(id) = fresh(r)
	pos, vel, state := move.Split(m.place(id, team))
	*m.pos.Get(id), *m.vel.Get(id), *m.state.Get(id) = pos, Velocity(vel), state
}

// place returns the state of a player put at a spawn point of its team, drawn from (seed, tick, player).
func (m *Match) place(id ecs.NetID, team uint8) move.Motion {
	spawns := ecs.Resource[arena.Arena](m.World).TeamSpawns(team)
	if len(spawns) == 0 {
		return move.Motion{}
	}
	n := draw(m.Rules().Seed, uint64(m.Tick()), 1<<32|uint64(id)) % uint64(len(spawns))
	return move.Round(move.Motion{Pos: spawns[n].Pos})
}
