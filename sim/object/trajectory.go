package object

import (
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
)

// Segment is the movement of f in tick t, for client and server. It has no length up to the tick
// of the start, and once Range is flown.
func (f *Trajectory) Segment(r *CompiledProjectile, t tick.Tick) geom.Ray {
	dir := geom.Forward(f.Yaw, f.Pitch)
	if t <= f.Tick {
		return geom.Ray{Origin: f.Start, Dir: dir}
	}
	way := r.Travelled(f.age(t - 1))
	return geom.Ray{Origin: f.Start.Mad(dir, way), Dir: dir, Max: r.Travelled(f.age(t)) - way}
}

// HitsArena reports whether f, which has not ended before tick t, hits the arena in it, and where
// its centre is then: what StepProjectiles finds if nothing else is in its path.
func (f *Trajectory) HitsArena(r *CompiledProjectile, a *arena.Arena, t tick.Tick) (at geom.Vec3, ok bool) {
	ray := f.Segment(r, t)
	if ray.Max <= 0 {
		return at, false
	}
	hit, ok := a.SweepAt(ray, min(r.Ground, arena.MaxSweep), arena.Moment{Tick: t, Rate: tick.Rate(r.rate)})
	if !ok {
		return at, false
	}
	return onGrid(ray.At(hit.Distance)), true
}
