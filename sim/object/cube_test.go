package object

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// TestRow55CubesComeToRest drops 100 cubes among walls: they end still and flat, on the floor and
// not in each other much, the same to the bit each time.
func TestRow55CubesComeToRest(t *testing.T) {
	wall := arena.NewSolid(arena.Box, v3(3, 0, -8), v3(4, 4, 8))
	ramp := arena.NewSolid(arena.RampNegX, v3(-12, 0, -4), v3(-6, 1, 4))
	var ends [2][]Cube
	for round := range ends {
		s := newStage(plain(t, wall, ramp), 1)
		s.put(0, 0, v3(60, 0, 60))
		s.Cubes = SpawnCubes(1000, v3(0, 0, 0), &s.CubeKind, thing, nil)
		if len(s.Cubes) != MaxCubes {
			t.Fatalf("%d cubes", len(s.Cubes))
		}
		for range 900 {
			s.next()
			s.StepCubes()
		}
		ends[round] = s.Cubes
	}
	resting, most := 0, float32(0)
	for i, c := range ends[0] {
		if c != ends[1][i] {
			t.Fatalf("cube %d: %+v, then %+v", i, c, ends[1][i])
		}
		if c.Resting {
			resting++
			if flat, ok := c.Rot.flatten(0.01); !ok || c.Vel != (geom.Vec3{}) {
				t.Errorf("cube %d rests %+v, %v", i, c, flat)
			}
		}
		if c.Pos.Y < 0.49 {
			t.Errorf("cube %d is in the floor: %v", i, c.Pos)
		}
		for _, d := range ends[0][i+1:] {
			most = max(most, 1-d.Pos.Sub(c.Pos).Len())
		}
	}
	if resting < 95 || most > 0.3 {
		t.Errorf("%d rest, the deepest two are %v m in each other", resting, most)
	}
}

func TestRow55GoldenCube(t *testing.T) {
	k, a := DefaultCube(), plain(t, arena.NewSolid(arena.Box, v3(3, 0, -8), v3(4, 4, 8)))
	c := Cube{Pos: v3(-3, 2, 0), Rot: NoRotation}
	c.Push(v3(9, 2, 1))
	var b strings.Builder
	for n := range 200 {
		c = c.Step(&k, a, arena.Moment{Rate: rate})
		if n%10 == 0 || c.Resting {
			fmt.Fprintf(&b, "%3d %6d %6d %6d  %6d %6d %6d  %v %v\n", n, int(c.Pos.X/move.PosUnit),
				int(c.Pos.Y/move.PosUnit), int(c.Pos.Z/move.PosUnit),
				int(c.Vel.X/move.VelUnit), int(c.Vel.Y/move.VelUnit), int(c.Vel.Z/move.VelUnit), c.Rot,
				c.Resting)
		}
		if c.Resting {
			break
		}
	}
	if !c.Resting {
		t.Errorf("%+v", c)
	}
	golden(t, "cube.golden", b.String())
}

// A player shoves a cube, a blast throws it, a projectile knocks it; a wall between protects it.
func TestRow55CubesArePushed(t *testing.T) {
	fresh := func(solids ...arena.Solid) *stage {
		s := newStage(plain(t, solids...), 1)
		s.put(0, 0, v3(-20, 0, 0))
		s.Cubes = SpawnCubes(1, v3(0, 0, 0), &s.CubeKind, thing, nil)
		s.Cubes[0].Pos = v3(0, 0.504, 0)
		for range 30 {
			s.next()
			s.StepCubes()
		}
		if !s.Cubes[0].Resting {
			t.Fatalf("%+v", s.Cubes[0])
		}
		return s
	}
	s := fresh()
	for range 20 {
		s.put(0, 0, v3(s.Cubes[0].Pos.X-0.8, 0, 0))
		s.next()
		s.StepCubes()
	}
	if c := s.Cubes[0]; c.Pos.X < 0.8 || c.Resting || c.Rot == NoRotation {
		t.Errorf("shoved: %+v", c)
	}
	s = fresh()
	boom := Blast{Center: v3(-3, 0.5, 0), Splash: DefaultGrenade().Splash, Source: thing(7), Queued: s.Now}
	s.Blasts.Add(boom)
	s.ResolveBlasts()
	if c := s.Cubes[0]; c.Resting || c.Vel.X < 20 {
		t.Errorf("blown: %+v", c)
	}
	s = fresh(arena.NewSolid(arena.Box, v3(-2, 0, -4), v3(-1.5, 4, 4)))
	s.Blasts.Add(boom)
	s.ResolveBlasts()
	if c := s.Cubes[0]; !c.Resting {
		t.Errorf("blown through a wall: %+v", c)
	}
	s = fresh()
	all := []Projectile{Launch(thing(1), Trajectory{Start: v3(-10, 0.6, 0), Yaw: 0x4000, Owner: player(0),
		Tick: s.Now}, tick.View{})}
	for all[0].Hit == Flying {
		s.next()
		s.StepProjectiles(all)
	}
	if c := s.Cubes[0]; all[0].Hit != HitCube || all[0].Victim != c.ID || !near(c.Vel.X, 7, 0.1) ||
		!near(all[0].Point.X, -0.8, 0.02) {
		t.Errorf("%+v knocked: %+v", all[0], c)
	}
}

// SweepCubes agrees with small steps that turn the point into the cube's axes.
func TestRow55SweepCubes(t *testing.T) {
	s := newStage(plain(t), 1)
	rng := rand.New(rand.NewPCG(2, 9))
	hits := 0
	for range 3000 {
		rot := makeRotation(between(rng, -1, 1), between(rng, -1, 1), between(rng, -1, 1),
			between(rng, -1, 1))
		s.Cubes = []Cube{{Pos: v3(1, 2, 3), Rot: rot, ID: thing(1)}}
		r := geom.Ray{Origin: v3(between(rng, -3, 5), between(rng, -2, 6), between(rng, -1, 7)), Max: 6}
		r.Dir = v3(1, 2, 3).Add(v3(between(rng, -1, 1), between(rng, -1, 1),
			between(rng, -1, 1))).Sub(r.Origin).Normalize()
		inside := func(t, half float32) bool {
			p := rot.Inverse().Apply(r.At(t).Sub(v3(1, 2, 3)))
			return geom.Abs(p.X) <= half && geom.Abs(p.Y) <= half && geom.Abs(p.Z) <= half
		}
		_, at, ok := s.SweepCubes(r, 0.2)
		if ok {
			hits++
			if !inside(at, 0.701) {
				t.Fatalf("%+v at %v: not on the box", r, at)
			}
		}
		for way := float32(0); way < 6 && (!ok || way < at-0.01); way += 0.02 {
			if inside(way, 0.699) {
				t.Fatalf("%+v: %v %v, yet inside at %v", r, at, ok, way)
			}
		}
	}
	if hits < 1000 {
		t.Fatal(hits)
	}
}

func TestRotation(t *testing.T) {
	r := NoRotation
	for range 90 {
		r = r.turn(v3(0, 3.14159265/180, 0))
	}
	if d := r.Apply(v3(0, 0, 1)).Sub(v3(1, 0, 0)).Len(); d > 0.02 {
		t.Errorf("a quarter turn is off by %v", d)
	}
	if d := r.Inverse().Apply(r.Apply(v3(1, 2, 3))).Sub(v3(1, 2, 3)).Len(); d > 1e-3 {
		t.Errorf("there and back is off by %v", d)
	}
	if makeRotation(nan, 0, 0, 0) != NoRotation || makeRotation(0, 0, 0, 0) != NoRotation {
		t.Error("no rotation")
	}
}

func FuzzCube(f *testing.F) {
	a := arena.Generate(16, 1)
	f.Add(float32(0), float32(1), float32(0), float32(1), float32(2), float32(30))
	f.Fuzz(func(t *testing.T, x, y, z, vx, vy, vz float32) {
		k := DefaultCube()
		c := Cube{Pos: onGrid(v3(x, y, z)), Rot: NoRotation}
		c.Push(v3(vx, vy, vz))
		for range 200 {
			c = c.Step(&k, a, arena.Moment{Rate: rate})
			m := move.Round(move.Motion{Pos: c.Pos, Vel: c.Vel})
			if m.Pos != c.Pos || m.Vel != c.Vel {
				t.Fatalf("off the grid: %+v", c)
			}
			n := 0
			for _, q := range c.Rot {
				n += int(q) * int(q)
			}
			if n < 32700*32700 || n > 32835*32835 {
				t.Fatalf("no rotation: %+v", c)
			}
		}
	})
}

// Cubes stand on each other as on the ground, and fall when the lowest is knocked out.
func TestRow55CubesStack(t *testing.T) {
	s := newStage(plain(t), 1)
	s.put(0, 0, v3(60, 0, 60))
	for i := range 4 {
		// the last is the lowest
		s.Cubes = append(s.Cubes, Cube{Pos: v3(0, 0.5+1.2*float32(3-i), 0), Rot: NoRotation, ID: thing(i)})
	}
	run := func(n int) {
		for range n {
			s.next()
			s.StepCubes()
		}
	}
	run(240)
	for i, c := range s.Cubes {
		if !c.Resting || !near(c.Pos.Y, 3.5-float32(i), 0.02) {
			t.Fatalf("cube %d: %+v", i, c)
		}
	}
	s.Cubes[3].Push(v3(30, 0, 0))
	run(240)
	for i, c := range s.Cubes[:3] {
		if !c.Resting || !near(c.Pos.Y, 2.5-float32(i), 0.02) {
			t.Errorf("cube %d hangs: %+v", i, c)
		}
	}
}
