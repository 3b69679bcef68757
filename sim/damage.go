package sim

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/object"
)

// applyDamage is the only system in which players lose health.
func applyDamage(c *columns) {
	if c.scene.Damage.Len() == 0 {
		return
	}
	s := c.scratch
	s.damage = c.scene.ResolveDamage(func(id netid.ID) *int16 {
		if row, ok := c.row(id); ok {
			return &c.vital[row].Health
		}
		return nil
	}, s.damage)
	c.outcome.Damage = s.damage
	for i := range s.damage {
		if row, ok := c.row(s.damage[i].Victim); ok {
			c.takeDamage(row, &s.damage[i])
		}
	}
	c.knockBack()
}

// takeDamage reports a player's damage, and kills it at 0 health.
func (c *columns) takeDamage(row int, w *object.DamageResult) {
	s := c.scratch
	part := rig.NoPart
	if w.Cause == object.CauseShot {
		part = s.parts[w.Instigator.Index()]
	}
	s.push[row].Add(w.Impulse)
	c.outcome.Events = append(c.outcome.Events, Event{
		Kind: EventHit, Part: part, Cause: w.Cause, Tick: c.clock.Tick, Actor: w.Instigator,
		Victim: w.Victim, Amount: uint16(min(w.Points, 0xffff)),
	})
	if !w.Killed {
		return
	}
	v := &c.vital[row]
	v.Deaths++
	c.die(row, c.clock.Tick)
	k := mode.Kill{Victim: w.Victim, VictimTeam: v.Team, KillerTeam: lagcomp.NoTeam}
	if killer, ok := c.row(w.Instigator); ok {
		k.Killer, k.KillerTeam = w.Instigator, c.vital[killer].Team
	}
	s.kills, s.killDetails = append(s.kills, k), append(s.killDetails, killDetail{part, w.Cause})
}

// knockBack applies the impulses of the tick. Pushes counts them, as players cannot predict them.
func (c *columns) knockBack() {
	push := c.scratch.push[:len(c.id)]
	for i := range c.scratch.damage {
		if row, ok := c.row(c.scratch.damage[i].Victim); ok && push[row] != (move.Push{}) {
			c.vital[row].Pushes++
			c.setMotion(row, move.ApplyPush(c.motion(row), push[row]))
			push[row] = move.Push{}
		}
	}
}
