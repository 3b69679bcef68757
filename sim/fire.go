package sim

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/object"
)

// fire starts the tick's actions in the order of rows. The view is clamped once per player.
func fire(c *columns) {
	row, view, why := int32(-1), tick.View{}, lagcomp.ClampNone
	for i := range c.scratch.actions {
		d := &c.scratch.actions[i]
		if NeedsView(d.action.Kind) && d.row != row {
			row = d.row
			view, why = c.clamp(int(row))
		}
		c.runAction(int(d.row), &d.action, view, why)
	}
}

// clamp is the view that a player's actions of the tick are judged by, and for shot records the
// reason if it is not the claimed one.
func (c *columns) clamp(i int) (view tick.View, why lagcomp.ClampReason) {
	know := &c.clampLimits[i]
	view, clamped := lagcomp.ClampView(c.command[i].View, c.clock.Tick, know.ClampLimits)
	if clamped {
		c.outcome.Clamped++
		if c.match.shotLog != nil {
			why = lagcomp.ClampReasonOf(c.command[i].View, view, c.clock.Tick, know.ClampLimits)
		}
	}
	if view.Valid() {
		know.LastInstant = lagcomp.Instant(view)
	}
	return view, why
}

// runAction starts one action.
func (c *columns) runAction(i int, a *ability.Action, view tick.View, why lagcomp.ClampReason) {
	v, cmd, id := &c.vital[i], &c.command[i], c.id[i]
	switch a.Kind {
	case ability.ActionShot, ability.ActionMelee:
		s := Shot{Shooter: uint32(id), Damage: a.Damage, Impulse: a.Impulse, Claimed: cmd.View,
			Clamped: view != cmd.View, ClampReason: why}
		s.Sweep = lagcomp.Sweep{Ray: c.kit.ShotRay(uint32(id), v.Hero, c.pos[i], cmd, a), Radius: a.Radius,
			View: view, Except: uint32(id), Spare: lagcomp.TeamOf(v.Team)}
		if a.Kind == ability.ActionMelee {
			s.Spare = 0
			c.outcome.Punches = append(c.outcome.Punches, s)
			return
		}
		c.outcome.Shots = append(c.outcome.Shots, s)
	case ability.ActionProjectile:
		c.match.launch(object.Trajectory{
			Start: c.kit.Bodies[v.Hero].Eye(c.pos[i]), Yaw: cmd.Yaw, Pitch: cmd.Pitch + a.Pitch,
			Tick: c.clock.Tick, Owner: id, Type: a.Type - 1, Team: v.Team,
		}, view)
	case ability.ActionGrenade:
		c.match.throw(object.Grenade{
			Pos: c.kit.Bodies[v.Hero].Eye(c.pos[i]), Vel: geom.Forward(cmd.Yaw,
				cmd.Pitch+a.Pitch).Scale(a.Speed),
			Owner: id, Thrown: c.clock.Tick, Team: v.Team,
		})
	}
}

// combat casts the tick's shots and punches against the rewound players. Damage is queued in the
// order of shots, whatever number of workers casts them.
func combat(c *columns) {
	o, s := c.outcome, c.scratch
	shots := len(o.Shots)
	n := shots + len(o.Punches)
	s.sweeps, s.hits = slices.Grow(s.sweeps[:0], n)[:n], slices.Grow(s.hits[:0], n)[:n]
	c.scratch.loop.Run(c, n, min(shotsGrain, c.scratch.grain), cutShots)
	stats, nanos := c.cast()
	for i := range s.hits {
		shot, melee := (*Shot)(nil), i >= shots
		if melee {
			shot = &o.Punches[i-shots]
		} else {
			shot = &o.Shots[i]
		}
		blocked, used := c.resolveViews(i, shot)
		shot.Judged = used
		if stats != nil {
			j := judgedShot{
				shot: shot, sweep: s.sweeps[i], hit: &s.hits[i], stats: &stats[i], blocked: blocked,
				nanos: nanos, melee: melee,
			}
			j.sweep.View = used
			c.recordShot(&j)
		}
	}
	o.Hits = append(o.Hits, s.hits[:shots]...)
	for i := range o.Shots {
		s.parts[netid.ID(o.Shots[i].Shooter).Index()] = rig.NoPart
	}
	for i := range o.Shots {
		c.applyHit(&o.Shots[i], &s.hits[i], object.CauseShot)
	}
	for i := range o.Punches {
		c.applyHit(&o.Punches[i], &s.hits[shots+i], object.CauseMelee)
	}
}

// cutShots cuts shots, then punches, at obstacles.
func cutShots(c *columns, p parallel.Part) {
	o := c.outcome
	for i := p.From; i < p.To; i++ {
		if i < len(o.Shots) {
			c.scratch.sweeps[i] = c.cutAtObstacles(&o.Shots[i])
		} else {
			c.scratch.sweeps[i] = c.cutAtObstacles(&o.Punches[i-len(o.Shots)])
		}
	}
}

// visible asks the hit filter whether the shooter of shot i saw a player.
func (c *columns) visible(i int, id uint32) bool {
	w := &c.scratch.sweeps[i]
	seen := c.match.hitFilter(w, id)
	if !seen && c.match.inputLog != nil {
		c.match.inputLog.addHidden(w, id)
	}
	return seen
}

// cutAtObstacles cuts a shot where the ground, a barrel or a cube stops it, in this order where
// they are equally near. Movers stand where its tick has them, as on the shooter's screen: that shows
// the map at the tick of the command, and only other players at its view.
func (c *columns) cutAtObstacles(s *Shot) lagcomp.Sweep {
	if t, ok := c.arena.RaycastAt(s.Ray, c.moment()); ok {
		s.Ray.Max, s.HitWall = t, true
	}
	if i, t, ok := c.scene.SweepBarrels(s.Ray, s.Radius); ok && t < s.Ray.Max {
		s.Ray.Max, s.HitObject = t, c.scene.Barrels[i].ID
	}
	if i, t, ok := c.scene.SweepCubes(s.Ray, s.Radius); ok && t < s.Ray.Max {
		s.Ray.Max, s.HitObject = t, c.scene.Cubes[i].ID
	}
	return s.Sweep
}

// applyHit queues the damage of a shot, or pushes the cube that it hit.
func (c *columns) applyHit(s *Shot, h *lagcomp.Hit, cause object.Cause) {
	d := object.Damage{
		Victim: netid.ID(h.ID), Instigator: netid.ID(s.Shooter), Cause: cause, Points: int32(s.Damage),
		Impulse: s.Ray.Dir.Scale(s.Impulse),
	}
	if h.ID == 0 {
		if d.Victim = s.HitObject; c.match.World.KindOf(d.Victim) == c.match.kinds[pageCube] {
			c.scene.Cubes[d.Victim.Index()-FirstCube].Push(d.Impulse)
			return
		} else if d.Victim == 0 {
			return
		}
	} else if cause == object.CauseShot {
		// of several in a tick the head counts
		if part := &c.scratch.parts[d.Instigator.Index()]; *part != rig.PartHead {
			*part = h.Part
		}
		if h.Part == rig.PartHead {
			d.Points *= int32(c.kit.game.HeadScale)
		}
	}
	c.scene.Damage.Add(d)
}

// flyProjectiles moves projectiles by a tick and queues their hits and blasts.
func flyProjectiles(c *columns) {
	o := c.objects
	for _, i := range c.scene.StepProjectiles(o.Projectiles) {
		c.match.World.Despawn(o.Projectiles[i].ID)
	}
}

// flyGrenades moves grenades by a tick and queues the blasts of those that explode.
func flyGrenades(c *columns) {
	o := c.objects
	c.scene.StepGrenades(o.Grenades)
	for i := range o.Grenades {
		if g := &o.Grenades[i]; g.Expired(&c.kit.GrenadeKinds[g.Type], c.clock.Tick) {
			c.match.World.Despawn(g.ID)
		}
	}
}

// resolveBlasts queues damage and pushes of the tick's blasts.
func resolveBlasts(c *columns) { c.scene.ResolveBlasts() }

// moveCubes moves cubes by a tick, pushed by players and blasts.
func moveCubes(c *columns) {
	if len(c.scene.Cubes) > 0 {
		c.scene.StepCubes()
	}
}
