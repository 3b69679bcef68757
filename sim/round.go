package sim

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// die makes a player dead until it may respawn, and puts out its fire: it may be alive again before
// the next tick's areas.
func (c *columns) die(row int, now tick.Tick) {
	v := &c.vital[row]
	v.Health, v.Died = 0, now
	v.Respawn = now + c.match.Rules().ticks(c.kit.Mode.RespawnMillis)
	c.vel[row], c.state[row] = zero, move.State{Loco: move.Dead}
	if len(c.objects.Areas) > 0 {
		c.match.burning.Remove(c.id[row])
	}
}

// occupyZones queues the teleports of the tick and counts the living players of each team in each
// capture zone.
func occupyZones(c *columns) {
	o := c.objects
	if len(o.Ports) > 0 {
		c.scratch.teleports = c.scene.StepTeleporters(o.Ports, c.bodies(), c.scratch.teleports[:0])
		for _, r := range c.scratch.teleports {
			c.match.teleporting.Add(r.ID, r)
		}
	}
	object.CountOccupants(o.Zones, c.bodies(), o.occupants)
	for i := range o.occupants {
		o.Occupied[i] = mode.Occupancy{o.occupants[i][0], o.occupants[i][1]}
	}
}

// playMode steps the mode and applies its decisions: awards, announcements, the end of a round and
// the start of the next.
func playMode(c *columns) {
	s := c.scratch
	in := mode.Input{Players: c.score.Members, Kills: s.kills, Zones: c.objects.Occupied}
	*c.mode = c.kit.Mode.Step(*c.mode, &in, &s.mode)
	c.outcome.Announcements = s.mode.Announcements
	for _, id := range s.mode.Awards {
		if row, ok := c.row(id); ok {
			c.vital[row].Kills++
		}
	}
	for i := range s.kills {
		c.announceKill(&s.kills[i], s.killDetails[i])
	}
	if s.mode.KillAll {
		c.killAll()
	}
	if s.mode.Restart {
		c.restart()
	}
}

// announceKill reports a death to all players: victim, cause, and the killer's team score.
func (c *columns) announceKill(k *mode.Kill, d killDetail) {
	e := Event{Kind: EventKill, Part: d.part, Cause: d.cause, Tick: c.clock.Tick, Actor: k.Killer,
		Victim: k.Victim}
	if k.KillerTeam < mode.Teams {
		e.Amount = uint16(max(c.mode.Score[k.KillerTeam], 0))
	}
	c.outcome.Events = append(c.outcome.Events, e)
}

// killAll ends a round: all players die, without a killer, and respawn when the next round begins.
func (c *columns) killAll() {
	for i := range c.vital {
		if v := &c.vital[i]; v.Alive() {
			c.die(i, c.clock.Tick)
			v.Respawn = c.clock.Tick + tick.Tick(c.mode.Left) + 1
		}
	}
}

// restart begins a round: scores are reset, objects are whole, and all players may spawn.
func (c *columns) restart() {
	for i := range c.vital {
		v := &c.vital[i]
		v.Kills, v.Deaths, v.Died = 0, 0, 0
	}
	c.match.restartKinds()
}
