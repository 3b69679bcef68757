package object

import (
	"math"
	"slices"
	"unsafe"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// ProjectileKind is a kind of projectile.
type ProjectileKind struct {
	Name     string
	Velocity float32 // m/s
	Range    float32 // metres; of the weapon that fires it
	Radius   float32 // metres, against bodies
	Ground   float32 // metres, against the arena; 0 is a ray, as FPSSample has it
	Damage   int32   // points
	Impulse  float32 // m/s
	// how long its row is sent after an impact; 0: no client is told of the impact
	LingerMillis int32
	Splash       Splash
}

// DefaultProjectiles is FPSSample's table: rivet, rocket (which no hero uses) and goo rocket.
func DefaultProjectiles() []ProjectileKind {
	rocket := Splash{Radius: 5, FalloffStart: 1, Damage: 40, Impulse: 15, OwnerFraction: 0.2}
	goo := rocket
	goo.MinDamage, goo.MinImpulse = 5, 5
	return []ProjectileKind{
		{Name: "Rivet", Velocity: 80, Range: 200, Radius: 0.3, Ground: 0.3, Damage: 12, Impulse: 7,
			LingerMillis: 1000},
		{Name: "Rocket", Velocity: 30, Range: 200, Radius: 0.3, Ground: 0.3, Damage: 40, LingerMillis: 1000,
			Splash: rocket},
		{Name: "GooRocket", Velocity: 30, Range: 200, Radius: 0.2, Ground: 0.2, Damage: 40,
			LingerMillis: 1000, Splash: goo},
	}
}

// CompiledProjectile is a ProjectileKind at a tick rate.
type CompiledProjectile struct {
	ProjectileKind
	Life   tick.Tick // from the start until Range is flown
	Linger tick.Tick
	rate   float64
}

// Compile converts seconds to ticks.
func (a ProjectileKind) Compile(rate tick.Rate) CompiledProjectile {
	r := CompiledProjectile{ProjectileKind: a, Linger: ticks(a.LingerMillis, rate), rate: float64(rate),
		Life: 1}
	if a.Velocity > 0 {
		r.Life = max(1, tick.Tick(min(math.Ceil(float64(a.Range)*r.rate/float64(a.Velocity)), 1<<20)))
	}
	return r
}

// Travelled is the distance of a projectile from its start after age ticks, in metres, at most
// Range.
func (r *CompiledProjectile) Travelled(age tick.Tick) float32 {
	return float32(min(float64(r.Velocity)*float64(age)/r.rate, float64(r.Range)))
}

// Trajectory is everything that a projectile's path depends on, and everything that is sent of it:
// 28 bytes.
type Trajectory struct {
	Start      geom.Vec3  // multiples of move.PosUnit
	Yaw, Pitch geom.Angle // direction
	Tick       tick.Tick  // of the shot; it first moves in the next
	Owner      netid.ID
	Type       uint8 // of Scene.ProjectileKinds
	Team       uint8 // the owner's, not hit; lagcomp.NoTeam excludes only the owner
}

var _ [28]byte = [unsafe.Sizeof(Trajectory{})]byte{}

// At is the centre at the end of tick t, for client and server.
func (f *Trajectory) At(r *CompiledProjectile, t tick.Tick) geom.Vec3 {
	return f.Start.Mad(geom.Forward(f.Yaw, f.Pitch), r.Travelled(f.age(t)))
}

func (f *Trajectory) age(t tick.Tick) tick.Tick { return max(t, f.Tick) - f.Tick }

// HitKind is what ended a projectile.
type HitKind uint8

// The kinds.
const (
	Flying HitKind = iota
	HitGround
	HitBody
	HitBarrel
	HitCube
	OutOfRange // its range was flown; it is removed at once
)

// Projectile is a trajectory and its end.
type Projectile struct {
	Trajectory
	Delay  uint16    // view delay of its shooter, in 1/256 tick; known to the server only
	Hit    HitKind   // Flying until it ends
	ID     netid.ID  // its own
	Ended  tick.Tick // tick of the hit, 0 while flying
	Victim netid.ID  // what it hit
	Point  geom.Vec3 // its centre at the hit, in multiples of move.PosUnit
	Normal geom.Vec3 // of the surface that it hit
	dir    geom.Vec3
}

// Launch is a projectile fired in a tick by a player whose view, already clamped, is given.
func Launch(id netid.ID, f Trajectory, view tick.View) Projectile {
	f.Start = onGrid(f.Start)
	return Projectile{Trajectory: f, ID: id, Delay: lagcomp.Delay(f.Tick, view), dir: geom.Forward(f.Yaw,
		f.Pitch)}
}

// onGrid rounds a position to the wire's grid.
func onGrid(p geom.Vec3) geom.Vec3 { return move.Round(move.Motion{Pos: p}).Pos }

// Expired reports that p need not be sent any more.
func (p *Projectile) Expired(r *CompiledProjectile, now tick.Tick) bool {
	return p.Hit == OutOfRange || p.Hit != Flying && now >= p.Ended+r.Linger
}

// flight is a projectile that moves in the tick at hand.
type flight struct {
	row    int32
	hit    HitKind // of the obstacle that cuts its path short; Flying: none does
	last   bool    // its range ends with the tick
	free   bool    // no solid of the arena is near
	victim netid.ID
	normal geom.Vec3
	probe  arena.Probe
	ground float32 // radius against the arena
}

var _ [36]byte = [unsafe.Sizeof(flight{})]byte{}

// StepProjectiles moves all projectiles: against the arena, barrels and cubes as they stand, and
// against players as the shooter saw them. A hit queues damage and a blast. Of equally near hits
// the ground counts before barrels, these before cubes, these before players. It returns the rows
// that need not be sent any more, ascending; they are valid until the next call.
//
// The tick goes in passes: the rows that fly, their paths, what stands in those, the players along
// what is left of them. All but the first may go in parallel; results are applied in the order of
// rows.
func (s *Scene) StepProjectiles(all []Projectile) (expired []int32) {
	s.collectFlights(all)
	s.sweeps = slices.Grow(s.sweeps[:0], len(s.flights))[:len(s.flights)]
	s.growHits()
	s.prepareFlights(all)
	s.shared.projectiles = all
	s.loop.Run(s, len(s.flights), castGrain, stepProjectilesPart)
	s.shared = loopArgs{}
	ended := len(s.expired)
	for j := range s.flights {
		if f := &s.flights[j]; s.hits[j].ID != 0 || f.hit != Flying {
			p := &all[f.row]
			s.impact(p, f, &s.sweeps[j], &s.hits[j])
			if p.Expired(&s.ProjectileKinds[p.Type], s.Now) {
				s.expired = append(s.expired, f.row)
			}
		} else if f.last {
			p := &all[f.row]
			p.Hit, p.Ended = OutOfRange, s.Now
			s.expired = append(s.expired, f.row)
		}
	}
	if ended > 0 && len(s.expired) > ended {
		slices.Sort(s.expired)
	}
	return s.expired
}

// collectFlights lists the rows that move in this tick, and those that are over.
func (s *Scene) collectFlights(all []Projectile) {
	s.flights, s.expired = s.flights[:0], s.expired[:0]
	for i := range all {
		p := &all[i]
		switch {
		case int(p.Type) >= len(s.ProjectileKinds):
			if p.Hit == Flying && s.Now > p.Tick {
				p.Hit, p.Ended = OutOfRange, s.Now
			}
			s.expired = append(s.expired, int32(i))
		case p.Hit != Flying:
			if p.Expired(&s.ProjectileKinds[p.Type], s.Now) {
				s.expired = append(s.expired, int32(i))
			}
		case s.Now > p.Tick:
			s.flights = append(s.flights, flight{row: int32(i)})
		}
	}
}

// prepareFlights prepares the views of all flights for the forks.
func (s *Scene) prepareFlights(all []Projectile) {
	if !s.loop.Parallel() {
		return
	}
	h := s.Players.History()
	var last tick.View // that was prepared
	for i := range s.flights {
		if v := h.DelayedView(s.Now, all[s.flights[i].row].Delay); v.From != last.From || v.To != last.To ||
			v.Frac != 0 && last.Frac == 0 {
			s.Players.Prepare(v)
			last = v
		}
	}
}

// stepProjectilesPart finds what some flights hit.
func stepProjectilesPart(s *Scene, part parallel.Part) {
	h := s.Players.History()
	for j := part.From; j < part.To; j++ {
		f, w := &s.flights[j], &s.sweeps[j] // in place: a copy would wait for its parts
		p := &s.shared.projectiles[f.row]
		r := &s.ProjectileKinds[p.Type]
		age := s.Now - p.Tick
		way := r.Travelled(age - 1)
		f.last, f.ground = age >= r.Life, min(r.Ground, arena.MaxSweep)
		w.Ray.Origin, w.Ray.Dir, w.Ray.Max = p.Start.Mad(p.dir, way), p.dir, r.Travelled(age)-way
		w.Radius, w.View = r.Radius, h.DelayedView(s.Now, p.Delay)
		w.Except, w.Spare = uint32(p.Owner), lagcomp.TeamOf(p.Team)
		f.probe = s.Arena.Probe(&w.Ray, f.ground)
	}
	for j := part.From; j < part.To; j++ { // reads what is scattered: many reads are in flight at once
		f := &s.flights[j]
		f.free = s.Arena.Free(f.probe)
	}
	for j := part.From; j < part.To; j++ {
		s.cutAtObstacles(&s.flights[j], &s.sweeps[j])
	}
	s.sweeperFor(part).Cast(s.sweeps[part.From:part.To], s.hits[part.From:part.To])
}

// cutAtObstacles cuts a movement at objects other than players, and notes the obstacle.
func (s *Scene) cutAtObstacles(f *flight, w *lagcomp.Sweep) {
	ray := &w.Ray
	if !f.free {
		if hit, ok := s.Arena.Sweep(*ray, f.ground); ok {
			ray.Max, f.hit, f.normal = hit.Distance, HitGround, hit.Normal
		}
	}
	if s.Arena.Moves() {
		if hit, ok := s.Arena.SweepMovers(*ray, f.ground, s.Moment()); ok &&
			(f.hit == Flying || hit.Distance < ray.Max) {
			ray.Max, f.hit, f.normal = hit.Distance, HitGround, hit.Normal
		}
	}
	if len(s.Barrels) > 0 {
		if i, t, ok := s.SweepBarrels(*ray, w.Radius); ok && t < ray.Max {
			ray.Max, f.hit, f.normal, f.victim = t, HitBarrel, ray.Dir.Scale(-1), s.Barrels[i].ID
		}
	}
	if len(s.Cubes) > 0 {
		if i, t, ok := s.SweepCubes(*ray, w.Radius); ok && t < ray.Max {
			ray.Max, f.hit, f.normal, f.victim = t, HitCube, ray.Dir.Scale(-1), s.Cubes[i].ID
		}
	}
}

// impact ends a projectile at the nearest of what is in its path.
func (s *Scene) impact(p *Projectile, f *flight, w *lagcomp.Sweep, hit *lagcomp.Hit) {
	t := w.Ray.Max
	p.Hit, p.Normal, p.Victim = f.hit, f.normal, f.victim
	if hit.ID != 0 {
		t, p.Hit, p.Normal, p.Victim = hit.Distance, HitBody, p.dir.Scale(-1), netid.ID(hit.ID)
	}
	p.Ended, p.Point = s.Now, onGrid(w.Ray.At(t))
	s.applyImpact(p, &s.ProjectileKinds[p.Type], w.View)
}

func (s *Scene) applyImpact(p *Projectile, r *CompiledProjectile, view tick.View) {
	impulse := p.dir.Scale(r.Impulse)
	switch p.Hit {
	case HitBody, HitBarrel:
		s.Damage.Add(Damage{Victim: p.Victim, Instigator: p.Owner, Cause: CauseProjectile, Points: r.Damage,
			Impulse: impulse})
	case HitCube:
		if i := s.cube(p.Victim); i >= 0 {
			s.Cubes[i].Push(impulse)
		}
	}
	if r.Splash.Radius > 0 {
		s.Blasts.Add(Blast{
			Center: p.Point.Mad(p.Normal, wallMargin), Splash: r.Splash, View: view,
			Instigator: p.Owner, Team: p.Team, Source: p.ID, Queued: s.Now,
		})
	}
}
