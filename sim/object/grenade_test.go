package object

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// toss throws a grenade as FPSSample's launcher does: 50 m/s, 5 degrees up.
func toss(owner int, team uint8, from geom.Vec3, yaw geom.Angle, speed float32) Grenade {
	return Throw(Grenade{Pos: from, Vel: geom.Forward(yaw, geom.Degrees(5)).Scale(speed),
		ID: thing(owner + 1), Owner: player(owner), Team: team})
}

// TestRow53GoldenGrenade pins a throw against walls, a ramp and the floor.
func TestRow53GoldenGrenade(t *testing.T) {
	a := plain(t, arena.NewSolid(arena.Box, v3(-4, 0, 12), v3(4, 4, 13)), arena.NewSolid(arena.RampPosX,
		v3(2, 0, 4), v3(6, 2, 8)))
	k := DefaultGrenade().Compile(rate)
	var b strings.Builder
	for i, g := range []Grenade{
		toss(0, 0, v3(0, 1.65, 0), 0, 50),
		toss(0, 0, v3(1, 1.65, 0), geom.Degrees(40), 12),
		{Pos: v3(4, 6, 6), Type: 0},
	} {
		for now := tick.Tick(1); now <= 240; now++ {
			g = g.Step(&k, a, now)
			if now%12 == 0 || g.Bounced == now {
				fmt.Fprintf(&b, "%d %3d %8d %8d %8d  %7d %7d %7d  %v\n", i, now, int(g.Pos.X/move.PosUnit),
					int(g.Pos.Y/move.PosUnit), int(g.Pos.Z/move.PosUnit),
					int(g.Vel.X/move.VelUnit), int(g.Vel.Y/move.VelUnit), int(g.Vel.Z/move.VelUnit),
					g.Resting)
			}
			if g.Resting {
				break
			}
		}
		if !g.Resting || g.Vel != (geom.Vec3{}) || !onWire(g) {
			t.Errorf("%d: %+v", i, g)
		}
	}
	golden(t, "grenades.golden", b.String())
}

func onWire(g Grenade) bool {
	m := move.Round(move.Motion{Pos: g.Pos, Vel: g.Vel})
	return m.Pos == g.Pos && m.Vel == g.Vel
}

// A bounce leaves 0.4 of the speed, thrown back off the surface.
func TestRow53GrenadeBounce(t *testing.T) {
	a := plain(t)
	f := DefaultGrenade()
	f.Gravity = 0
	k := f.Compile(rate)
	g := Throw(Grenade{Pos: v3(0, 1, 0), Vel: v3(3, -30, 6)})
	for now := tick.Tick(1); g.Bounced == 0; now++ {
		g = g.Step(&k, a, now)
	}
	if want := v3(1.2, 12, 2.4); g.Vel.Sub(want).Len() > 0.01 {
		t.Errorf("%v, want %v", g.Vel, want)
	}
	if g.Pos.Y < k.Radius {
		t.Errorf("sunk: %v", g.Pos)
	}
}

// Slow at the top of its path, a grenade falls on.
func TestRow53GrenadeDoesNotHangInTheAir(t *testing.T) {
	k := DefaultGrenade().Compile(rate)
	g := Throw(Grenade{Pos: v3(0, 1, 0), Vel: v3(0, 6, 0)})
	top := g.Pos.Y
	for now := tick.Tick(1); !g.Resting; now++ {
		if g = g.Step(&k, plain(t), now); now > 240 {
			t.Fatalf("%+v", g)
		}
		top = max(top, g.Pos.Y)
	}
	if !near(top, 2, 0.1) || !near(g.Pos.Y, k.Radius, 0.02) { // v2/2g
		t.Errorf("rose to %v, rests at %v", top, g.Pos.Y)
	}
}

func TestRow53GrenadeTable(t *testing.T) {
	for i, c := range []struct {
		what   string
		target geom.Vec3
		team   uint8     // the target's; the thrower is in team 0
		thrown uint8     // the grenade's
		at     tick.Tick // 0: not before its time is up
	}{
		{"an enemy in the way", v3(0, 0, 10), 1, 0, 21},
		{"a friend in the way", v3(0, 0, 10), 0, 0, 0},
		{"an enemy beside the way", v3(1.2, 0, 10), 1, 0, 24},
		{"an enemy two metres off", v3(2.5, 0, 4), 1, 0, 0},
	} {
		s := newStage(plain(t), 2)
		s.put(0, 0, v3(0, 0, -20))
		s.put(1, c.team, c.target)
		all := []Grenade{Throw(Grenade{Pos: v3(0, 1, -2), Vel: v3(0, 4, 32), ID: thing(1), Owner: player(0),
			Team: c.thrown})}
		for all[0].Exploded == 0 {
			s.next()
			s.StepGrenades(all)
		}
		if c.at == 0 && all[0].Exploded != 240 || c.at != 0 && (all[0].Exploded > c.at ||
			all[0].Exploded < 10) {
			t.Errorf("%d %s: at tick %d", i, c.what, all[0].Exploded)
		}
		if all[0].Expired(&s.GrenadeKinds[0], all[0].Exploded+59) || !all[0].Expired(&s.GrenadeKinds[0],
			all[0].Exploded+60) {
			t.Errorf("%d: lingers wrongly", i)
		}
		if s.ResolveBlasts(); s.Blasts.Resolved != 1 {
			t.Errorf("%d: %d blasts", i, s.Blasts.Resolved)
		}
	}
}

// Without teams, a grenade spares its owner for a fifth of a second, not longer.
func TestRow53GrenadeArms(t *testing.T) {
	for _, team := range []uint8{0, 255} {
		s := newStage(plain(t), 1)
		s.put(0, 0, v3(0, 0, 0))
		all := []Grenade{Throw(Grenade{Pos: v3(0, 1.5, 0), ID: thing(1), Owner: player(0), Team: team})}
		for all[0].Exploded == 0 {
			s.next()
			s.StepGrenades(all)
		}
		if want := map[uint8]tick.Tick{0: 240, 255: 12}[team]; all[0].Exploded != want {
			t.Errorf("team %d: at tick %d, want %d", team, all[0].Exploded, want)
		}
	}
}

func FuzzGrenade(f *testing.F) {
	a := arena.Generate(16, 1)
	f.Add(float32(0), float32(1), float32(0), float32(1), float32(2), float32(30), float32(0.4))
	f.Add(float32(3), float32(9), float32(0), float32(-50), float32(0), float32(50), float32(0.9))
	f.Fuzz(func(t *testing.T, x, y, z, vx, vy, vz, bounciness float32) {
		fuse := DefaultGrenade()
		fuse.Bounciness = min(max(bounciness, 0), 1)
		k := fuse.Compile(rate)
		g := Throw(Grenade{Pos: v3(x, y, z), Vel: v3(vx, vy, vz)})
		energy := func(g Grenade) float64 {
			v := float64(g.Vel.LenSq())
			return v/2 + 18*float64(g.Pos.Y)
		}
		buried := false
		for i := range a.Solids {
			buried = buried || g.Pos.Sub(a.Solids[i].Nearest(g.Pos)).Len() < k.Radius-0.01
		}
		for now := tick.Tick(1); now <= 300; now++ {
			last := g
			g = g.Step(&k, a, now)
			if !g.Pos.Finite() || !onWire(g) || g != g.Step(&k, a, 0) || g.Vel.Len() > 64*1.74 {
				t.Fatalf("%+v", g)
			}
			if g.Bounced > last.Bounced && g.Bounced != now {
				t.Fatalf("bounced at %d in %d", g.Bounced, now)
			}
			if !buried && geom.Abs(x) < 1000 && geom.Abs(z) < 1000 && y < 1000 && energy(g) > energy(last)+
				0.62*float64(last.Vel.Len())+1 {
				// A bounce in the middle of a tick keeps the whole tick's fall, and rises for the
				// rest of it freely.
				t.Fatalf("gained energy: %v of %v, %+v", energy(g), energy(last), g)
			}
			if !buried {
				for i := range a.Solids {
					if a.Solids[i].Nearest(g.Pos) == g.Pos {
						t.Fatalf("within a solid: %+v after %+v", g, last)
					}
				}
			}
		}
	})
}
