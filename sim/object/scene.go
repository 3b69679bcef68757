package object

import (
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
)

// Scene is everything that objects read and change in a tick. Arena, Players, Rate and Damage must
// be set; tables and rows may be empty. The owner sets Now, calls the steps in the order of the
// package comment, and may store the rows anywhere.
type Scene struct {
	Arena   *arena.Arena
	Players *lagcomp.Sweeper
	Rate    tick.Rate
	Now     tick.Tick // the tick being played
	Damage  *DamageQueue
	Blasts  Blasts

	ProjectileKinds []CompiledProjectile // by Trajectory.Type
	GrenadeKinds    []CompiledGrenade    // by Grenade.Type
	BarrelKind      BarrelKind           // of all barrels
	CubeKind        CubeKind             // of all cubes
	Barrels         []Barrel
	Cubes           []Cube

	barrelGrid barrelGrid // of Barrels
	sceneScratch
}

// sceneScratch is a step's temporary memory.
type sceneScratch struct {
	sweeps    []lagcomp.Sweep
	rows      []int32  // of sweeps
	flights   []flight // of sweeps
	expired   []int32  // rows of projectiles
	hits      []lagcomp.Hit
	loop      parallel.Loop[Scene]
	forks     []*lagcomp.Sweeper // by part of a loop
	shared    loopArgs
	near      []lagcomp.SphereOverlap
	supported []bool // of cubes: lies on another
}

// Reserve allocates room for flights projectiles and grenades, blasts, and near players at one
// blast.
func (s *Scene) Reserve(flights, blasts, near int) {
	s.sweeps, s.rows = slices.Grow(s.sweeps, flights), slices.Grow(s.rows, flights)
	s.flights, s.expired = slices.Grow(s.flights, flights), slices.Grow(s.expired, flights)
	s.hits, s.near = slices.Grow(s.hits, flights), slices.Grow(s.near, near)
	s.Blasts.list = slices.Grow(s.Blasts.list, blasts)
}

// Moment is when movers are looked at: the tick being played.
func (s *Scene) Moment() arena.Moment { return arena.Moment{Tick: s.Now, Rate: s.Rate} }

// presentView is the view of the newest recorded tick.
func (s *Scene) presentView() tick.View { return s.Players.History().DelayedView(s.Now, 0) }

// ResolveDamage takes the tick's damage, as DamageQueue.Resolve, from players and barrels; health
// returns a player's points, nil for other ids. A barrel that breaks is queued to explode in the
// next ResolveBlasts, credited to the player that broke it: a chain of barrels takes one tick a
// link, whatever their order.
func (s *Scene) ResolveDamage(health func(netid.ID) *int16, out []DamageResult) []DamageResult {
	first := len(out)
	out = s.Damage.Resolve(func(id netid.ID) *int16 {
		if points := health(id); points != nil {
			return points
		}
		if i := s.barrel(id); i >= 0 {
			return &s.Barrels[i].Health
		}
		return nil
	}, out)
	for i := first; i < len(out); i++ {
		if w := &out[i]; w.Killed {
			if b := s.barrel(w.Victim); b >= 0 {
				s.breakBarrel(&s.Barrels[b], w.Instigator)
			}
		}
	}
	return out
}

// lineOfSight reports that no wall stands between two points.
func (s *Scene) lineOfSight(from, to geom.Vec3) bool {
	d := to.Sub(from)
	n := d.Len()
	if n < 1e-3 {
		return true
	}
	_, hit := s.Arena.RaycastAt(geom.Ray{Origin: from, Dir: d.Scale(1 / n), Max: n}, s.Moment())
	return !hit
}

// ticks converts milliseconds to ticks, rounded up, at least one.
func ticks(millis int32, rate tick.Rate) tick.Tick {
	return max(1, tick.Tick((int64(max(millis, 0))*int64(rate)+999)/1000))
}
