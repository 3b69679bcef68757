package object

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
)

// TestRow53Projectiles fires every kind at a player 20 m off and holds what comes of it against the
// reference's numbers.
func TestRow53Projectiles(t *testing.T) {
	for kind, c := range []struct {
		name           string
		velocity       float32
		life           tick.Tick // 200 m
		impact, splash int32
		radius         float32
	}{
		{"Rivet", 80, 150, 12, 0, 0.3},
		{"Rocket", 30, 400, 40, 40, 0.3},
		{"GooRocket", 30, 400, 40, 40, 0.2},
	} {
		s := newStage(plain(t), 2)
		s.put(0, 0, v3(0, 0, 0))
		s.put(1, 1, v3(0, 0, 20))
		r := &s.ProjectileKinds[kind]
		if r.Name != c.name || r.Life != c.life || r.Radius != c.radius {
			t.Fatalf("%d: %+v", kind, r)
		}
		all := []Projectile{Launch(thing(1), Trajectory{Start: v3(0, 1.2, 1), Owner: player(0),
			Type: uint8(kind)}, tick.View{})}
		var wounds []DamageResult
		for all[0].Hit == Flying {
			s.next()
			s.StepProjectiles(all)
			wounds = append(wounds, s.run()...)
		}
		// The way is 20 m but for the start, to where the bones begin.
		target := s.poses[1]
		hit, _ := lagcomp.Test(rig.HeroBodies, geom.Ray{Origin: v3(0, 1.2, 1), Dir: geom.Vec3{Z: 1}, Max: 100}, c.radius,
			&target)
		way := hit.Distance
		if want := tick.Tick(math.Ceil(float64(way * 60 / c.velocity))); all[0].Ended != want ||
			all[0].Hit != HitBody {
			t.Errorf("%s: struck %d at tick %d, want %d", c.name, all[0].Hit, all[0].Ended, want)
		}
		if w := find(wounds, player(1)); len(wounds) == 0 || wounds[0].Points != c.impact ||
			wounds[0].Cause != CauseProjectile {
			t.Errorf("%s: %+v %+v", c.name, wounds, w)
		}
		var blast int32
		for _, w := range wounds {
			if w.Cause == CauseBlast {
				blast += w.Points
			}
		}
		if blast != c.splash {
			t.Errorf("%s: its blast takes %d, want %d", c.name, blast, c.splash)
		}
		if i := wounds[0].Impulse; !near(i.Len(), r.Impulse, 0.01) {
			t.Errorf("%s: impulse %v", c.name, i)
		}
		if all[0].Expired(r, all[0].Ended+59) || !all[0].Expired(r, all[0].Ended+60) {
			t.Errorf("%s does not linger for a second", c.name)
		}
	}
}

// A projectile expires a linger time after its impact: without one in the tick of the impact, like a
// grenade.
func TestProjectileLingers(t *testing.T) {
	for linger, want := range map[tick.Tick]tick.Tick{0: 0, 1: 1, 3: 3} {
		s := newStage(plain(t), 2)
		s.ProjectileKinds = slices.Clone(s.ProjectileKinds)
		s.ProjectileKinds[0].Linger = linger
		s.put(1, 1, v3(0, 0, 10))
		all := []Projectile{Launch(thing(1), Trajectory{Start: v3(0, 1, 0), Owner: player(0), Team: 0},
			tick.View{})}
		for s.Now < 100 {
			s.next()
			if expired := s.StepProjectiles(all); len(expired) > 0 {
				break
			}
		}
		if all[0].Hit != HitBody || s.Now != all[0].Ended+want {
			t.Errorf("linger %d: %v in tick %d, expired in tick %d", linger, all[0].Hit, all[0].Ended, s.Now)
		}
	}
}

func TestRow53ProjectileRangeEnds(t *testing.T) {
	s := newStage(plain(t), 1)
	up := geom.Degrees(89)
	all := []Projectile{Launch(thing(1), Trajectory{Start: v3(0, 2, 0), Pitch: up, Owner: player(0)},
		tick.View{})}
	for s.Now < 200 && all[0].Hit == Flying {
		s.next()
		s.StepProjectiles(all)
		if at := all[0].At(&s.ProjectileKinds[0], s.Now); s.Now == 75 && !near(at.Y, 2+100*0.99985, 0.01) {
			t.Errorf("after 75 ticks at %v", at)
		}
	}
	if s.Now != 150 || all[0].Hit != OutOfRange || !all[0].Expired(&s.ProjectileKinds[0], s.Now) ||
		s.Damage.Len()+s.Blasts.Len() != 0 {
		t.Errorf("%+v at tick %d", all[0], s.Now)
	}
}

// TestRow47ProjectilesFlyInTheirShootersTime lets a target run across. A shooter with a delay hits
// where it saw the target, one without where the target is.
func TestRow47ProjectilesFlyInTheirShootersTime(t *testing.T) {
	for _, delay := range []tick.Tick{0, 6, 18} {
		for _, aimDelay := range []tick.Tick{0, 6, 18} {
			s := newStage(plain(t), 2)
			s.put(0, 0, v3(0, 0, -10))
			at := func(now tick.Tick) geom.Vec3 { return v3(float32(now)*0.25-10, 0, 10) }
			step := func() {
				s.put(1, 1, at(s.Now+1))
				s.next()
			}
			for range 40 {
				step()
			}
			view := tick.View{From: s.Now - delay, To: s.Now - delay}
			// It flies 20 m in 15 ticks; the shooter leads by what the target moves in that time.
			target := at(s.Now - aimDelay + 15)
			f := Trajectory{Start: v3(0, 1.2, -10), Yaw: geom.Atan2(target.X, 20), Tick: s.Now,
				Owner: player(0)}
			all := []Projectile{Launch(thing(1), f, view)}
			for all[0].Hit == Flying {
				step()
				s.StepProjectiles(all)
			}
			if hit := all[0].Hit == HitBody; hit != (delay == aimDelay) {
				t.Errorf("delay %d, aimed for %d: struck %d", delay, aimDelay, all[0].Hit)
			}
			if len(s.settle()) == 1 != (delay == aimDelay) {
				t.Errorf("delay %d, aimed for %d: damage", delay, aimDelay)
			}
		}
	}
}

func TestRow53ProjectilesSpareTheTeam(t *testing.T) {
	for i, c := range []struct {
		team, targetTeam uint8
		hit              bool
	}{{0, 0, false}, {0, 1, true}, {1, 0, true}, {lagcomp.NoTeam, 0, true}} {
		s := newStage(plain(t), 2)
		s.put(0, 0, v3(0, 0, 0))
		s.put(1, c.targetTeam, v3(0, 0, 5))
		all := []Projectile{Launch(thing(1), Trajectory{Start: v3(0, 1.2, 0), Owner: player(0),
			Team: c.team}, tick.View{})}
		for all[0].Hit == Flying {
			s.next()
			s.StepProjectiles(all)
		}
		if got := all[0].Hit == HitBody; got != c.hit {
			t.Errorf("%d: struck %d", i, all[0].Hit)
		}
	}
}

// slowStep is the honest twin of a projectile's tick: it looks where the closed formula puts the
// projectile, in sixty small steps, and asks everything by itself.
func slowStep(s *stage, p *Projectile) (struck HitKind, at float32) {
	r := &s.ProjectileKinds[p.Type]
	from, to := r.Travelled(p.age(s.Now-1)), r.Travelled(p.age(s.Now))
	view := s.history.DelayedView(s.Now, p.Delay)
	const steps = 60
	for i := range steps + 1 {
		way := from + (to-from)*float32(i)/steps
		c := p.Start.Mad(geom.Forward(p.Yaw, p.Pitch), way)
		if buried(s.Arena, c, r.Ground) {
			return HitGround, way - from
		}
		for j := range s.Barrels {
			if s.Barrels[j].Health > 0 && s.Barrels[j].touched(&s.BarrelKind, c, r.Radius) {
				return HitBarrel, way - from
			}
		}
		for slot := range s.poses {
			q, ok := s.history.At(view, slot)
			if ok && q.Alive() && q.ID != uint32(p.Owner) && q.Team() != p.Team &&
				lagcomp.TestSphere(rig.HeroBodies, geom.Sphere{Center: c, Radius: r.Radius}, &q) {
				return HitBody, way - from
			}
		}
	}
	return Flying, 0
}

// buried reports that a ball touches the ground.
func buried(a *arena.Arena, c geom.Vec3, radius float32) bool {
	solids := a.Near(c.X, c.Z)
	for i := range solids {
		if c.Sub(solids[i].Nearest(c)).Len() <= radius {
			return true
		}
	}
	return false
}

// TestRow53ProjectilesAgainstSmallSteps compares whole flights among boxes, barrels and running
// players with the twin: the same end, but for those that end at a hair's breadth.
func TestRow53ProjectilesAgainstSmallSteps(t *testing.T) {
	a := arena.Generate(20, 4)
	rng := rand.New(rand.NewPCG(6, 6))
	s := newStage(a, 40)
	for i := range 24 {
		s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(1000+i), place(rng, 10)))
	}
	ended, off := map[HitKind]int{}, 0
	var all []Projectile
	for range 250 {
		for i := range s.poses {
			if s.poses[i].ID == 0 || rng.IntN(100) == 0 {
				s.put(i, uint8(i%2), place(rng, 12))
				s.poses[i].Flags = rig.Flags(true, uint8(i%2), uint8(rng.Uint32()))
			}
			s.poses[i].Pos.X += between(rng, -0.13, 0.13)
		}
		s.next()
		for len(all) < 24 {
			f := Trajectory{Start: place(rng, 12), Yaw: geom.Angle(rng.Uint32()),
				Pitch: geom.Angle(int16(rng.IntN(4000) - 2000)), Tick: s.Now - 1,
				Owner: player(rng.IntN(40)), Type: uint8(rng.IntN(3)), Team: uint8(rng.IntN(2))}
			if buried(a, f.Start, 0.32) {
				continue // one that starts in the ground may leave it
			}
			view := tick.View{From: s.Now - min(s.Now-1, tick.Tick(rng.IntN(20))), Frac: uint8(rng.Uint32())}
			view.To = view.From + 1
			all = append(all, Launch(thing(len(all)), f, view))
		}
		for i := range all {
			all[i].Tick = min(all[i].Tick, s.Now-1)
		}
		before := append([]Projectile(nil), all...)
		s.StepProjectiles(all)
		for i := range all {
			p := &all[i]
			if p.Hit == OutOfRange {
				continue
			}
			want, at := slowStep(s, &before[i])
			way := float32(0)
			if p.Hit != Flying {
				way = p.Point.Sub(before[i].At(&s.ProjectileKinds[p.Type], s.Now-1)).Len()
			}
			if p.Hit != want || want != Flying && !near(way, at, 0.03) {
				off++
				t.Logf("%+v ended by %d after %v, walked to %d after %v", before[i], p.Hit, way, want, at)
			}
			ended[p.Hit]++
		}
		kept := all[:0]
		for _, p := range all {
			if p.Hit == Flying {
				kept = append(kept, p)
			}
		}
		all = kept
	}
	if ended[HitGround] < 200 || ended[HitBody] < 30 || ended[HitBarrel] < 20 {
		t.Errorf("%v", ended)
	}
	if off > 8 { // grazes
		t.Errorf("%d of %v differ", off, ended)
	}
}

// TestRow53GoldenFlights pins positions to the bit.
func TestRow53GoldenFlights(t *testing.T) {
	var b strings.Builder
	for i, f := range []Trajectory{
		{Start: v3(1.5, 1.65, -7), Yaw: geom.Degrees(33), Pitch: geom.Degrees(4), Tick: 7},
		{Start: v3(-3, 2, 8), Yaw: geom.Degrees(-120), Pitch: geom.Degrees(-1), Tick: 100, Type: 1},
		{Start: v3(0.1, 10, 0.3), Yaw: 0x4000, Pitch: geom.Degrees(60), Tick: 9, Type: 2},
	} {
		p := Launch(1, f, tick.View{})
		r := DefaultProjectiles()[f.Type].Compile(rate)
		for _, age := range []tick.Tick{0, 1, 2, 10, 59, 150, 400, 1000} {
			at := p.At(&r, p.Tick+age)
			fmt.Fprintf(&b, "%d %4d %08x %08x %08x  %v\n", i, age, math.Float32bits(at.X),
				math.Float32bits(at.Y), math.Float32bits(at.Z), at)
		}
	}
	golden(t, "flights.golden", b.String())
}

func TestProjectileOfNoKindIsSpent(t *testing.T) {
	s := newStage(plain(t), 1)
	all := []Projectile{Launch(1, Trajectory{Start: v3(nan, inf, 0), Type: 77}, tick.View{}),
		Launch(2, Trajectory{Start: v3(nan, inf, 0)}, tick.View{})}
	s.next()
	s.StepProjectiles(all)
	if all[0].Hit != OutOfRange || all[1].Start.X != 0 {
		t.Errorf("%+v", all)
	}
}

func FuzzProjectile(f *testing.F) {
	a := arena.Generate(16, 1)
	f.Add(float32(0), float32(1), float32(0), uint16(0), uint16(0), uint32(1), uint8(0), uint16(9))
	f.Fuzz(func(t *testing.T, x, y, z float32, yaw, pitch uint16, fired uint32, kind uint8, delay uint16) {
		s := newStage(a, 2)
		s.put(0, 0, v3(0, 0, 0))
		s.put(1, 1, v3(4, 0, 4))
		p := Launch(thing(1), Trajectory{Start: v3(x, y, z), Yaw: geom.Angle(yaw), Pitch: geom.Angle(pitch),
			Tick: tick.Tick(fired % 400), Owner: player(0), Type: kind}, tick.View{})
		p.Delay = delay
		all := []Projectile{p}
		impacts := 0
		for range 900 {
			s.next()
			was := all[0].Hit
			s.StepProjectiles(all)
			if was == Flying && all[0].Hit != Flying {
				impacts++
			}
			if !all[0].Point.Finite() || was != Flying && was != all[0].Hit {
				t.Fatalf("%+v", all[0])
			}
			s.run()
		}
		if impacts != 1 || s.Blasts.Len() != 0 || s.Blasts.Resolved > 1 {
			t.Fatalf("ended %d times: %+v", impacts, all[0])
		}
	})
}
