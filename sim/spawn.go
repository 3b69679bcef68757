package sim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
)

// zero is the velocity of a player that spawns.
var zero geom.Vec3

// spawns is the resource of how waiting players join.
type spawns struct {
	joinAs []joinKind // by slot
}

// nearBase is how far from a capture point a spawn belongs to its base, in metres.
const nearBase = 30

// nearestBase is the nearest capture point within nearBase of a spawn, -1 if there is none.
func nearestBase(l *Layout, pos geom.Vec3) int8 {
	best, nearest := -1, float32(nearBase*nearBase)
	for i := range l.Points {
		if d := l.Points[i].Center.Sub(pos).LenSq(); d < nearest {
			best, nearest = i, d
		}
	}
	return int8(best)
}

// initPlayer sets up the row of a player that has just joined.
func (m *Match) initPlayer(id netid.ID) {
	as := m.spawns.joinAs[id.Index()]
	v := m.vital.Get(id)
	*v = Vital{Respawn: m.Tick() + 1}
	*m.clampLimits.Get(id), *m.command.Get(id), *m.look.Get(id), *m.anim.Get(id) = ClampLimits{}, Command{},
		Look{}, anim.State{}
	*m.pos.Get(id), *m.vel.Get(id), *m.state.Get(id) = zero, Velocity{}, move.State{Loco: move.Dead}
	k := m.Game()
	switch {
	case as == spectator:
		v.Team = lagcomp.NoTeam
		return
	case as != 0:
		v.Hero = uint8(as - 1)
	case m.Rules().Mix:
		v.Hero = uint8(id.Index() % len(k.Heroes))
	}
	s := m.Score()
	v.Team = mode.Assign(s.Members)
	s.Members[v.Team]++
	*m.ability.Get(id), *m.anim.Get(id) = k.Heroes[v.Hero].NewState(), anim.Spawn(k.Figures[v.Hero], 0)
	if !k.Mode.MayRespawn(m.Mode(), 0, m.Tick()) {
		return
	}
	v.Respawn, v.Health = 0, k.Heroes[v.Hero].Health()
	pos, vel, state := move.Split(m.spawnMotion(v.Team))
	*m.pos.Get(id), *m.vel.Get(id), *m.state.Get(id) = pos, Velocity(vel), state
}

// spawnMotion is the motion of a player at its team's next spawn point.
func (m *Match) spawnMotion(team uint8) move.Motion {
	at := m.Game().Mode.Spawn(m.Mode(), team)
	spawn := m.spawnPoint(func(s *SpawnPoint) bool { return at.Base >= 0 && s.Base == at.Base }, at.Turn)
	if spawn == nil {
		spawn = m.spawnPoint(func(s *SpawnPoint) bool { return s.Team == team }, at.Turn)
	}
	if spawn == nil {
		return move.Motion{}
	}
	return move.Round(move.Motion{Pos: spawn.Pos})
}

// spawnPoint is the spawn point whose turn it is among those that are chosen, nil if none is.
func (m *Match) spawnPoint(chosen func(*SpawnPoint) bool, turn uint16) *SpawnPoint {
	all, n := m.objects.Spawns, 0
	for i := range all {
		if chosen(&all[i]) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	left := int(turn) % n
	for i := range all {
		if !chosen(&all[i]) {
			continue
		}
		if left == 0 {
			return &all[i]
		}
		left--
	}
	return nil
}
