package object

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/arena"
)

// Movers of the map below.
const (
	lift = iota // rises 4 m from the ground
	door        // closes the gap of a wall
)

// moving is a plain with an elevator, and a wall at x = 10 whose gap a door closes.
func moving(t *testing.T) *arena.Arena {
	ground := plain(t)
	walls := []arena.Solid{arena.NewSolid(arena.Box, v3(10, 0, -60), v3(10.5, 4, -1)),
		arena.NewSolid(arena.Box, v3(10, 0, 1), v3(10.5, 4, 60))}
	a, err := arena.New("moving", ground.Bounds, append(ground.Solids, walls...), nil,
		arena.Mover{Min: v3(-2, 0, -2), Max: v3(2, 0.25, 2), Travel: v3(0, 4, 0), TravelMillis: 2000, DwellMillis: 1000},
		arena.Mover{Min: v3(10, 0, 1), Max: v3(10.5, 4, 3), Travel: v3(0, 0, -2), TravelMillis: 1000, DwellMillis: 2000})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRow55GrenadesAndCubesRide: a grenade and a cube that come to rest on an elevator go up and down
// with it, on the grid of the wire and never within it; so does the client's copy of the grenade.
func TestRow55GrenadesAndCubesRide(t *testing.T) {
	a := moving(t)
	s := newStage(a, 0)
	fuse := DefaultGrenade()
	fuse.LifeMillis = 60000
	s.GrenadeKinds = []CompiledGrenade{fuse.Compile(rate)}
	all := []Grenade{Throw(Grenade{Pos: v3(1, 1.5, 0.5), Vel: v3(1, 0, 0), ID: thing(1), Team: lagcomp.NoTeam})}
	s.Cubes = []Cube{{Pos: v3(-1, 0.78125, 0), Rot: NoRotation}}
	mirror := all[0]
	var spots [2]geom.Vec3
	highest, still := float32(0), 0
	for s.Now < 20*tick.Tick(rate) {
		s.next()
		s.StepGrenades(all)
		s.StepCubes()
		mirror = mirror.Step(&s.GrenadeKinds[0], a, s.Now)
		g, c := &all[0], &s.Cubes[0]
		if mirror.Pos != g.Pos || !onWire(mirror) {
			t.Fatalf("tick %d: at %v, and the client has it at %v", s.Now, g.Pos, mirror.Pos)
		}
		top := a.Movers[lift].At(s.Moment())
		if out := top.Out(g.Pos, s.GrenadeKinds[0].Radius-solidMargin); out != (geom.Vec3{}) {
			t.Fatalf("tick %d: the grenade at %v is %v within the elevator", s.Now, g.Pos, out)
		}
		if s.Now > 3*tick.Tick(rate) { // both came to rest
			now := [2]geom.Vec3{g.Pos.Sub(top.Max), c.Pos.Sub(top.Max)}
			if still++; still > 1 && now != spots || !g.Resting || !c.Resting {
				t.Fatalf("tick %d: %+v and %+v, want them at rest at %v", s.Now, g, c, spots)
			}
			spots = now
		}
		highest = max(highest, g.Pos.Y)
	}
	if still < 900 || highest < 4.4 {
		t.Errorf("at rest for %d ticks, at most %v m high", still, highest)
	}
}

// TestRow55DoorStopsProjectiles: a round that meets the door while it is closed ends there, at once
// for server and client, and so does a blast; through the open gap both go on.
func TestRow55DoorStopsProjectiles(t *testing.T) {
	for _, c := range []struct {
		at    tick.Tick // of the shot
		open  bool
		blast int32 // damage of a blast in front of the door to a player behind it
	}{{60, true, 40}, {240, false, 0}} {
		a := moving(t)
		s := newStage(a, 1)
		s.put(0, 1, v3(12, 0, 0))
		for s.Now < c.at {
			s.next()
		}
		shot := Trajectory{Start: v3(0, 1.5, 0.5), Yaw: geom.Degrees(90), Tick: s.Now, Owner: player(3),
			Team: lagcomp.NoTeam}
		all := []Projectile{Launch(thing(1), shot, tick.View{})}
		landed, mine := tick.Tick(0), geom.Vec3{}
		for all[0].Hit == Flying && s.Now < c.at+20 {
			s.next()
			s.StepProjectiles(all)
			if at, ok := all[0].HitsArena(&s.ProjectileKinds[0], a, s.Now); ok && landed == 0 {
				landed, mine = s.Now, at
			}
		}
		if c.open && (all[0].Hit == HitGround || landed != 0) {
			t.Errorf("%+v: the round ended at %v, and for the client at %v", c, all[0].Point, mine)
		}
		if !c.open && (all[0].Hit != HitGround || !near(all[0].Point.X, 9.7, 0.01) || landed != all[0].Ended ||
			mine != all[0].Point || !near(all[0].Normal.X, -1, 1e-6)) {
			t.Errorf("%+v: %+v, and for the client at %v in tick %d", c, all[0], mine, landed)
		}
		s.settle()
		s.Blasts.Add(Blast{Center: v3(9, 1, 0), Splash: DefaultGrenade().Splash, Team: lagcomp.NoTeam,
			View: s.presentView(), Queued: s.Now})
		if got := find(s.run(), player(0)).Points; (got > 0) != (c.blast > 0) {
			t.Errorf("%+v: a blast before the door costs the player behind it %d points", c, got)
		}
	}
}

// TestRow55DoorPushesGrenades: the door pushes a grenade that lies in its way and does not close over
// it unless the wall holds it there.
func TestRow55DoorPushesGrenades(t *testing.T) {
	a := moving(t)
	k := DefaultGrenade().Compile(rate)
	g := Grenade{Pos: onGrid(v3(10.25, k.Radius+solidMargin, 0)), Resting: true}
	pushed := 0
	for now := tick.Tick(1); now < 180; now++ {
		was := g.Pos
		g = g.Step(&k, a, now)
		box := a.Movers[door].At(arena.Moment{Tick: now, Rate: rate})
		if g.Pos.Z < was.Z {
			pushed++
		}
		if out := box.Out(g.Pos, k.Radius); out != (geom.Vec3{}) && g.Pos.Z > -0.7 {
			t.Fatalf("tick %d: at %v, %v within the door", now, g.Pos, out)
		}
		if !onWire(g) || g.Pos.Z < -1+k.Radius-solidMargin && geom.Abs(g.Pos.X-10.25) < 0.25 {
			t.Fatalf("tick %d: at %v, in the wall or off the grid", now, g.Pos)
		}
	}
	if pushed < 10 {
		t.Errorf("pushed in %d ticks, to %v", pushed, g.Pos)
	}
}
