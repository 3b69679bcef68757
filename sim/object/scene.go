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

// Scene is all that objects look at and act on in a tick. Arena, Players, Rate and Ledger must be set; tables and rows may
// be empty. The owner sets Now, calls the steps in the order of the package comment, and may keep the rows anywhere.
type Scene struct {
	Arena   *arena.Arena
	Players *lagcomp.Sweeper
	Rate    tick.Rate
	Now     tick.Tick // being played
	Ledger  *Ledger
	Blasts  Blasts

	Ammo   []Round    // by Flight.Type
	Fuses  []Timer    // by Grenade.Type
	Cask   BarrelKind // of all barrels
	Box    CubeKind   // of all cubes
	Barrel []Barrel
	Cube   []Cube

	yard   yard // of Barrel
	sweeps []lagcomp.Sweep
	rows   []int32 // of sweeps
	hits   []lagcomp.Hit
	loop   parallel.Loop[Scene]
	lanes  []*lagcomp.Sweeper // by part of a loop
	task   task
	near   []lagcomp.Near
	held   []bool // of cubes: lies on another
}

// Reserve makes room for so many flights, blasts and players near one before anything allocates.
func (s *Scene) Reserve(flights, blasts, near int) {
	s.sweeps, s.rows = slices.Grow(s.sweeps, flights), slices.Grow(s.rows, flights)
	s.hits, s.near = slices.Grow(s.hits, flights), slices.Grow(s.near, near)
	s.Blasts.list = slices.Grow(s.Blasts.list, blasts)
}

// current is the view of what is judged now.
func (s *Scene) current() tick.View { return s.Players.History().Delayed(s.Now, 0) }

// Settle takes the tick's damage, as Ledger.Settle, from players and from barrels; health knows the players, and is nil for
// whoever is none. A barrel that breaks is queued to explode, in the name of who broke it, in the next ResolveBlasts: so a
// chain of barrels takes a tick for each link, and does the same whatever their order.
func (s *Scene) Settle(health func(netid.ID) *int16, out []Wound) []Wound {
	first := len(out)
	out = s.Ledger.Settle(func(id netid.ID) *int16 {
		if points := health(id); points != nil {
			return points
		}
		if i := s.barrel(id); i >= 0 {
			return &s.Barrel[i].Health
		}
		return nil
	}, out)
	for i := first; i < len(out); i++ {
		if w := &out[i]; w.Killed {
			if b := s.barrel(w.Victim); b >= 0 {
				s.breakBarrel(&s.Barrel[b], w.Instigator)
			}
		}
	}
	return out
}

// clear reports that no wall stands between two points.
func (s *Scene) clear(from, to geom.Vec3) bool {
	d := to.Sub(from)
	n := d.Len()
	if n < 1e-3 {
		return true
	}
	_, hit := s.Arena.Raycast(geom.Ray{Origin: from, Dir: d.Scale(1 / n), Max: n})
	return !hit
}

// ticks converts milliseconds to ticks, rounded up, at least one.
func ticks(millis int32, rate tick.Rate) tick.Tick {
	return max(1, tick.Tick((int64(max(millis, 0))*int64(rate)+999)/1000))
}
