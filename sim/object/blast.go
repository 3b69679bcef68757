package object

import (
	"cmp"
	"slices"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Points of a body that a blast tests for a line of sight, in metres above the feet: the
// reference's centre of mass, and if that is hidden, the eyes.
const (
	MassHeight = 1.2
	eyeHeight  = 1.65
)

// wallMargin is how far in front of its surface a blast begins, in metres: a line of sight must
// not begin in the wall.
const wallMargin = 1. / 16

// Blast is an explosion that waits to be resolved.
type Blast struct {
	Center     geom.Vec3
	Splash     Splash
	View       tick.View // at which players are judged; the zero View: now
	Instigator netid.ID  // gets the credit
	Team       uint8     // not hurt, except for the instigator; lagcomp.NoTeam: no team is excluded
	Source     netid.ID  // the exploding object: it explodes once
	Queued     tick.Tick
}

// DefaultBlastBudget is how many victims are tested in a tick before the remaining blasts wait.
const DefaultBlastBudget = 4096

// Blasts are the explosions that wait. They are resolved once a tick, oldest first, until Budget
// victims have been tested. At least one is resolved, none is lost, and a source that is queued
// twice explodes once.
type Blasts struct {
	Budget   int    // victims; 0 means DefaultBlastBudget
	Deferred uint64 // waits for another tick
	Merged   uint64 // blasts that were already queued
	Resolved uint64
	list     []Blast
}

// Add queues a blast.
func (b *Blasts) Add(x Blast) { b.list = append(b.list, x) }

// Copy makes b wait for the same blasts as from, with its counts.
func (b *Blasts) Copy(from *Blasts) {
	list := append(b.list[:0], from.list...)
	*b = *from
	b.list = list
}

// Len is the number of blasts that wait, with duplicates.
func (b *Blasts) Len() int { return len(b.list) }

// Waiting lists the waiting explosions in the order in which they were queued; read-only.
func (b *Blasts) Waiting() []Blast { return b.list }

// merge keeps one blast of each source, the oldest, and sorts them by age and source. The choice
// between two duplicates of one tick does not depend on their order.
func (b *Blasts) merge() {
	slices.SortFunc(b.list, func(x, y Blast) int {
		return cmp.Or(cmp.Compare(x.Source, y.Source),
			compareBlasts(x, y))
	})
	before := len(b.list)
	b.list = slices.CompactFunc(b.list, func(x, y Blast) bool { return x.Source == y.Source })
	b.Merged += uint64(before - len(b.list))
	slices.SortFunc(b.list, compareBlasts)
}

func compareBlasts(a, b Blast) int {
	return cmp.Or(cmp.Compare(a.Queued, b.Queued), cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Instigator, b.Instigator),
		cmp.Compare(a.Center.X, b.Center.X), cmp.Compare(a.Center.Y, b.Center.Y), cmp.Compare(a.Center.Z,
			b.Center.Z))
}

// ResolveBlasts explodes the blasts that the budget allows: players by their view, barrels and
// cubes as they stand. It queues damage and pushes cubes.
func (s *Scene) ResolveBlasts() {
	b := &s.Blasts
	if len(b.list) == 0 {
		return
	}
	b.merge()
	budget := b.Budget
	if budget <= 0 {
		budget = DefaultBlastBudget
	}
	done := 0
	for done < len(b.list) && (done == 0 || budget > 0) {
		budget -= s.explode(&b.list[done])
		done++
	}
	b.Resolved += uint64(done)
	b.list = b.list[:copy(b.list, b.list[done:])]
	b.Deferred += uint64(len(b.list))
}

// explode resolves one blast and returns how many victims it tested.
func (s *Scene) explode(b *Blast) (looked int) {
	view := b.View
	if view == (tick.View{}) {
		view = s.presentView()
	}
	radius := min(b.Splash.Radius, lagcomp.MaxSweepRadius)
	s.near = s.Players.OverlapSphere(view, geom.Sphere{Center: b.Center, Radius: radius}, s.near[:0])
	for i := range s.near {
		s.blastPlayer(b, &s.near[i].Pose)
	}
	for i := range s.Barrels {
		k := &s.Barrels[i]
		if k.Health > 0 && k.touched(&s.BarrelKind, b.Center, radius) {
			looked++
			if middle := k.middle(&s.BarrelKind); s.lineOfSight(b.Center, middle) {
				s.addBlastDamage(b, k.ID, middle, 1)
			}
		}
	}
	for i := range s.Cubes {
		c := &s.Cubes[i]
		to := c.Pos.Sub(b.Center)
		if n := to.Len(); n-s.CubeKind.half() <= radius {
			looked++
			if s.lineOfSight(b.Center, c.Pos) {
				_, impulse := b.Splash.At(n)
				c.Push(directionOrUp(to).Scale(impulse))
			}
		}
	}
	return looked + len(s.near)
}

// blastPlayer applies a blast to a player that it touches.
func (s *Scene) blastPlayer(b *Blast, p *rig.Pose) {
	fraction := float32(1)
	switch {
	case p.ID == uint32(b.Instigator):
		if fraction = b.Splash.OwnerFraction; !(fraction > 0) {
			return
		}
	case p.Team() == b.Team:
		return
	}
	mass := geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + MassHeight, Z: p.Pos.Z}
	eyes := geom.Vec3{X: p.Pos.X, Y: p.Pos.Y + eyeHeight, Z: p.Pos.Z}
	if s.lineOfSight(b.Center, mass) || s.lineOfSight(b.Center, eyes) {
		s.addBlastDamage(b, netid.ID(p.ID), mass, fraction)
	}
}

func (s *Scene) addBlastDamage(b *Blast, victim netid.ID, mass geom.Vec3, fraction float32) {
	to := mass.Sub(b.Center)
	distance := to.Len()
	points, impulse := b.Splash.At(distance)
	if fraction != 1 {
		points = whole(b.Splash.falloff(distance, b.Splash.Damage, b.Splash.MinDamage) * fraction)
	}
	s.Damage.Add(Damage{Victim: victim, Instigator: b.Instigator, Cause: CauseBlast, Points: points,
		Impulse: directionOrUp(to).Scale(impulse)})
}

// directionOrUp is the direction of a vector; up for the zero vector.
func directionOrUp(d geom.Vec3) geom.Vec3 {
	if n := d.Normalize(); n != (geom.Vec3{}) {
		return n
	}
	return geom.Vec3{Y: 1}
}
