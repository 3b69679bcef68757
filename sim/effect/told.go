package effect

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/object"
)

// mergeDistance is up to how far apart impacts of one source and tick count as one, in metres.
const mergeDistance = 0.5

// wallReach is how far from a surface the end of a ray may lie by rounding, in metres.
const wallReach = 0.25

// AppendTold appends the effects of the tick that the match has just played that follow from no
// replicated row: impacts of rounds, and damage to players. Call it before the next tick.
func AppendTold(dst []Effect, m *sim.Match) []Effect {
	o := m.Outcome()
	for i := range o.Shots {
		dst = appendImpact(dst, m, &o.Shots[i], &o.Hits[i])
	}
	for i := range o.Damage {
		if d := &o.Damage[i]; m.Vital(d.Victim) != nil {
			dst = append(dst, damageOf(m, d))
		}
	}
	return dst
}

// appendImpact appends what a round struck, or counts it with the impact before it.
func appendImpact(dst []Effect, m *sim.Match, s *sim.Shot, hit *lagcomp.Hit) []Effect {
	e := Effect{Kind: Impact, Count: 1, Cause: object.CauseShot, Tick: m.Tick(), Source: netid.ID(s.Shooter)}
	if v := m.Vital(e.Source); v != nil {
		e.Registered = m.Game().RoundEffect(v.Hero)
	}
	switch {
	case hit.ID != 0:
		e.Surface, e.Bone, e.Target = Player, hit.Bone, netid.ID(hit.ID)
		e.Pos, e.Dir = hit.Point, hit.Normal
	case s.HitObject != 0:
		e.Surface, e.Pos, e.Dir = Object, s.Ray.At(s.Ray.Max), s.Ray.Dir.Scale(-1)
	case s.HitWall:
		e.Pos, e.Dir = Wall(m.Scene().Arena, s.Ray, m.Scene().Moment())
	default:
		return dst
	}
	if n := len(dst); n > 0 && dst[n-1].merges(&e) {
		return dst
	}
	return append(dst, e)
}

// Wall is where a ray that a map has stopped at a moment ends, and the normal of the surface there, or
// the way back if the map has none.
func Wall(a *arena.Arena, r geom.Ray, now arena.Moment) (at, normal geom.Vec3) {
	at = r.At(r.Max)
	if _, n, ok := a.SurfaceAt(at.Mad(r.Dir, -1./32), wallReach, now); ok {
		return at, n
	}
	return at, r.Dir.Scale(-1)
}

// merges counts x as another of e, if both are impacts of one source on one thing, side by side.
func (e *Effect) merges(x *Effect) bool {
	if e.Kind != x.Kind || e.Source != x.Source || e.Surface != x.Surface || e.Target != x.Target ||
		e.Bone != x.Bone || e.Count == maxCount || e.Pos.Sub(x.Pos).LenSq() > mergeDistance*mergeDistance {
		return false
	}
	e.Count++
	return true
}

// damageOf is the effect of a player's damage. Its direction is that of the impulse, or where there
// is none the way from its instigator.
func damageOf(m *sim.Match, d *object.DamageResult) Effect {
	e := Effect{
		Kind: Damage, Count: 1, Cause: d.Cause, Tick: m.Tick(), Source: d.Instigator, Target: d.Victim,
		Amount: uint16(min(d.Points, 1<<16-1)), Strength: d.Impulse.Len(), Dir: d.Impulse.Normalize(),
	}
	poses := m.Poses()
	victim := &poses[d.Victim.Index()]
	e.Pos = victim.Pos
	if from := d.Instigator.Index(); e.Dir == (geom.Vec3{}) && d.Instigator != 0 && from < len(poses) &&
		poses[from].ID == uint32(d.Instigator) {
		e.Dir = victim.Pos.Sub(poses[from].Pos).Normalize()
	}
	return e
}
