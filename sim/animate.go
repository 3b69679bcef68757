package sim

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/anim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// animate steps each player's animation. It reads the view on the public grid, so that angles
// relative to the view are relative to what others see.
func animate(c *columns) { c.parallelRows(len(c.id), animateOf) }

// animateOf steps the animation of a range of rows, from the motion of this tick.
func animateOf(c *columns, p parallel.Part) {
	in := c.scratch.motions[:len(c.id)]
	for i := p.From; i < p.To; i++ {
		v := c.vel[i]
		in[i] = anim.Input{Vel: v, Yaw: seenYaw(c.look[i].Yaw), Loco: c.state[i].Loco}
		if c.scratch.input[i].Buttons&move.Sprint != 0 {
			in[i].Flags |= anim.Sprinting
		}
		if c.kit.Heroes[c.vital[i].Hero].Shooting(&c.ability[i]) {
			in[i].Flags |= anim.Shooting
		}
		if in[i].Loco == move.InAir && v.Y < 0 && landsSoon(c.pos[i], v.Y, c.arena, c.moment()) {
			in[i].Flags |= anim.NearGround
		}
	}
	anim.StepColumns(c.anim[p.From:p.To], in[p.From:p.To], c.kit.Anim)
}

// landsSoon reports whether a falling body has ground under it within a quarter of a second.
func landsSoon(feet geom.Vec3, speed float32, a *arena.Arena, now arena.Moment) bool {
	const knee = 0.5 // the ray begins in the body: feet may be a hair within the ground
	down := geom.Ray{Origin: geom.Vec3{X: feet.X, Y: feet.Y + knee, Z: feet.Z}, Dir: geom.Vec3{Y: -1},
		Max: knee - float32(speed*0.25)}
	_, ok := a.RaycastAt(down, now)
	return ok
}

// skeletonFor is the skeleton that fits a hero's body best.
func skeletonFor(body *move.Params) (best rig.Hero) {
	for h := range rig.Heroes {
		off := geom.Abs(rig.Skeletons[h].Height - body.HeightMetres)
		if off < geom.Abs(rig.Skeletons[best].Height-body.HeightMetres) {
			best = h
		}
	}
	return best
}

// resetAnim makes a player's animation that of a spawned one.
func (c *columns) resetAnim(i int) {
	c.anim[i] = anim.Spawn(c.kit.Figures[c.vital[i].Hero], seenYaw(c.look[i].Yaw))
}
