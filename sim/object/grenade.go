package object

import (
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// GrenadeKind is a kind of grenade.
//
// A player within Proximity sets a grenade off. Members of the grenade's team never do. A grenade
// without a team (lagcomp.NoTeam) is set off by everybody, by its owner only after ArmMillis.
type GrenadeKind struct {
	Name       string
	LifeMillis int32   // from the throw until it explodes by itself
	Gravity    float32 // m/s2
	Bounciness float32 // share of the speed that is left after a bounce
	Radius     float32 // metres, at most arena.MaxSweep
	RestSpeed  float32 // m/s; a slower grenade stops after a bounce off a floor
	Proximity  float32 // metres
	ArmMillis  int32   // from the throw; see above
	// how long its row is sent after it exploded; 0: no client is told of the explosion
	LingerMillis int32
	Splash       Splash
}

// DefaultGrenade has the numbers of FPSSample's grenade.
func DefaultGrenade() GrenadeKind {
	return GrenadeKind{
		Name: "Grenade", LifeMillis: 4000, Gravity: 18, Bounciness: 0.4, Radius: 0.2, RestSpeed: 0.5,
		Proximity: 1, ArmMillis: 200,
		LingerMillis: 1000, Splash: Splash{Radius: 7, FalloffStart: 2, Damage: 40, Impulse: 30,
			OwnerFraction: 0.2},
	}
}

// CompiledGrenade is a GrenadeKind at a tick rate.
type CompiledGrenade struct {
	GrenadeKind
	Life, Arm, Linger tick.Tick
	rate              tick.Rate
	dt                float32
}

// Compile converts milliseconds to ticks.
func (k GrenadeKind) Compile(rate tick.Rate) CompiledGrenade {
	return CompiledGrenade{GrenadeKind: k, Life: ticks(k.LifeMillis, rate), Arm: ticks(k.ArmMillis, rate),
		Linger: ticks(k.LingerMillis, rate), rate: rate, dt: rate.Dt()}
}

// maxBounces is how often a grenade bounces within a tick before the rest of its movement is
// dropped.
const maxBounces = 4

// solidMargin is how far from a solid a bounce leaves a body, in metres, so that rounding does not
// put it inside.
const solidMargin = 1. / 256

// floorNormal is the least y of a normal on which objects rest: the cosine of move.SlopeLimit.
const floorNormal = 0.6427876

// Grenade is the state of one grenade: 47 bytes of fields and one of padding.
// netstate.ObjectState.OfGrenade says what of it is replicated.
type Grenade struct {
	Pos, Vel geom.Vec3 // the centre, in move.PosUnit, and its velocity, in move.VelUnit
	ID       netid.ID
	Owner    netid.ID
	Thrown   tick.Tick // first moves in tick Thrown+1
	Bounced  tick.Tick // tick of the last bounce, 0: none
	Exploded tick.Tick // tick of the explosion, 0: none yet
	Type     uint8     // index into Scene.GrenadeKinds
	Team     uint8     // the owner's, or lagcomp.NoTeam
	Resting  bool      // lies on a floor and moves no more
}

var _ [48]byte = [unsafe.Sizeof(Grenade{})]byte{}

// Throw returns g as it leaves the hand: on the grid of the wire, neither bounced nor exploded.
func Throw(g Grenade) Grenade {
	m := move.Round(move.Motion{Pos: g.Pos, Vel: g.Vel})
	g.Pos, g.Vel = m.Pos, m.Vel
	g.Bounced, g.Exploded, g.Resting = 0, 0, false
	return g
}

// Step takes an unexploded grenade through tick now, for client and server. The grenade
// comes to rest when a bounce off a floor leaves it slower than RestSpeed. (FPSSample stops every
// slow grenade, so that one thrown straight up stays in the air.)
func (g Grenade) Step(k *CompiledGrenade, a *arena.Arena, now tick.Tick) Grenade {
	g.move(k, a, now)
	return g
}

// move is Step in place.
func (g *Grenade) move(k *CompiledGrenade, a *arena.Arena, now tick.Tick) {
	if now <= g.Thrown {
		return
	}
	at := arena.Moment{Tick: now, Rate: k.rate}
	if a.Moves() {
		g.Resting = ride(a, at, &g.Pos, k.Radius, g.Resting)
	}
	if g.Resting {
		return
	}
	g.Vel.Y -= float32(k.Gravity * k.dt) // the conversion prevents a fused multiply-add
	left := k.dt
	for range maxBounces {
		speed := g.Vel.Len()
		if speed < 1e-6 {
			break
		}
		ray := geom.Ray{Origin: g.Pos, Dir: g.Vel.Scale(1 / speed), Max: float32(speed * left)}
		hit, ok := a.SweepAt(ray, k.Radius, at)
		if !ok {
			g.Pos = ray.At(ray.Max)
			break
		}
		g.Pos = ray.At(hit.Distance).Mad(hit.Normal, solidMargin)
		g.Vel = reflect(g.Vel, hit.Normal).Scale(k.Bounciness)
		g.Bounced = now
		if hit.Normal.Y > floorNormal && g.Vel.LenSq() < float32(k.RestSpeed*k.RestSpeed) {
			g.Vel, g.Resting = geom.Vec3{}, true
			break
		}
		left -= hit.Distance / speed
		if left <= 0 {
			break
		}
	}
	move.RoundAt(&g.Pos, &g.Vel)
}

// reflect mirrors v at a plane.
func reflect(v, n geom.Vec3) geom.Vec3 { return v.Mad(n, -2*v.Dot(n)) }

// Expired reports whether g exploded at least LingerMillis ago and its row may be removed.
func (g *Grenade) Expired(k *CompiledGrenade, now tick.Tick) bool {
	return g.Exploded != 0 && now >= g.Exploded+k.Linger
}

// StepGrenades moves every grenade and queues the blasts of grenades whose time is up or that a
// player sets off (see GrenadeKind). Proximity is tested along the straight line from where the
// tick began to where it ends, bounces left out. As with projectiles, grenades move in parallel.
func (s *Scene) StepGrenades(all []Grenade) {
	s.sweeps, s.rows = s.sweeps[:0], s.rows[:0]
	view := s.presentView()
	for i := range all {
		g := &all[i]
		if g.Exploded != 0 || s.Now <= g.Thrown {
			continue
		}
		if int(g.Type) >= len(s.GrenadeKinds) {
			g.Exploded = s.Now // an unknown kind ends without a blast
			continue
		}
		k := &s.GrenadeKinds[g.Type]
		s.sweeps, s.rows = append(s.sweeps, lagcomp.Sweep{}), append(s.rows, int32(i))
		w := &s.sweeps[len(s.sweeps)-1]
		w.Radius, w.View, w.Spare = k.Proximity, view, lagcomp.TeamOf(g.Team)
		if s.Now-g.Thrown < k.Arm {
			w.Except = uint32(g.Owner)
		}
	}
	s.growHits()
	s.prepareViews(s.sweeps[:min(1, len(s.sweeps))]) // all use the present view
	s.shared.grenades = all
	s.loop.Run(s, len(s.sweeps), castGrain, stepGrenadesPart)
	s.shared = loopArgs{}
	for j, i := range s.rows {
		g := &all[i]
		k := &s.GrenadeKinds[g.Type]
		if s.hits[j].ID != 0 {
			g.Pos = onGrid(s.hits[j].Point)
		} else if s.Now-g.Thrown < k.Life {
			continue
		}
		g.Exploded, g.Vel = s.Now, geom.Vec3{}
		s.Blasts.Add(Blast{
			Center: g.Pos, Splash: k.Splash, Instigator: g.Owner, Team: g.Team, Source: g.ID, Queued: s.Now,
		})
	}
}

// stepGrenadesPart moves the grenades of some sweeps, and finds the players that they came near.
func stepGrenadesPart(s *Scene, part parallel.Part) {
	for j := part.From; j < part.To; j++ {
		g := &s.shared.grenades[s.rows[j]]
		from := g.Pos
		g.move(&s.GrenadeKinds[g.Type], s.Arena, s.Now)
		ray := geom.Ray{Origin: from, Dir: geom.Vec3{Y: 1}}
		if way := g.Pos.Sub(from); way.LenSq() > 1e-8 {
			ray.Max = way.Len()
			ray.Dir = way.Scale(1 / ray.Max)
		}
		s.sweeps[j].Ray = ray
	}
	s.sweeperFor(part).Cast(s.sweeps[part.From:part.To], s.hits[part.From:part.To])
}
