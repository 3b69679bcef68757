package object

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
	"github.com/tickrate/tickrate/sim/arena"
)

func TestRow53SplashTable(t *testing.T) {
	ammo, grenade, barrel := DefaultProjectiles(), DefaultGrenade().Splash, DefaultBarrel().Splash
	for i, c := range []struct {
		s        Splash
		distance float32
		points   int32
		impulse  float32
	}{
		{ammo[0].Splash, 0, 0, 0},
		{ammo[1].Splash, 0, 40, 15}, {ammo[1].Splash, 1, 40, 15}, {ammo[1].Splash, 3, 20, 7.5},
		{ammo[1].Splash, 5, 0, 0},
		{ammo[2].Splash, 0.5, 40, 15}, {ammo[2].Splash, 3, 23, 10}, {ammo[2].Splash, 5, 5, 5},
		{ammo[2].Splash, 5.5, 5, 5},
		{grenade, 2, 40, 30}, {grenade, 4.5, 20, 15}, {grenade, 7, 0, 0},
		{barrel, 5, 90, 20}, {barrel, 6, 85, 15}, {barrel, 7, 80, 10},
	} {
		if points, impulse := c.s.At(c.distance); points != c.points || impulse != c.impulse {
			t.Errorf("%d: at %v m %d points, %v m/s; want %d, %v", i, c.distance, points, impulse, c.points,
				c.impulse)
		}
	}
}

// TestRow53BlastChoosesVictims is the table of players that a blast reaches: by team, by ownership,
// through walls.
func TestRow53BlastChoosesVictims(t *testing.T) {
	wall := arena.NewSolid(arena.Box, v3(-8, 0, 2), v3(8, 4, 2.25))
	low := arena.NewSolid(arena.Box, v3(-8, 0, 2), v3(8, 1.375, 2.25))
	goo := DefaultProjectiles()[2].Splash
	spare := goo
	spare.OwnerFraction = 0
	for i, c := range []struct {
		what         string
		solids       []arena.Solid
		s            Splash
		team, victim uint8
		own          bool
		points       int32
	}{
		{"an enemy", nil, goo, 0, 1, false, 23},
		{"a friend", nil, goo, 0, 0, false, 0},
		{"nobody is a friend", nil, goo, lagcomp.NoTeam, 0, false, 23},
		{"itself", nil, goo, 0, 0, true, 5},
		{"itself, spared", nil, spare, 0, 0, true, 0},
		{"itself, spared, among enemies of all", nil, spare, lagcomp.NoTeam, 0, true, 0},
		{"behind a wall", []arena.Solid{wall}, goo, 0, 1, false, 0},
		{"itself behind a wall", []arena.Solid{wall}, goo, 0, 0, true, 0},
		{"behind a wall it can look over", []arena.Solid{low}, goo, 0, 1, false, 23},
	} {
		s := newStage(plain(t, c.solids...), 2)
		s.put(0, 0, v3(40, 0, 40))
		who := 1
		if c.own {
			who = 0
		}
		s.put(who, c.victim, v3(0, 0, 3))
		s.next()
		s.Blasts.Add(Blast{Center: v3(0, MassHeight, 0), Splash: c.s, Instigator: player(0), Team: c.team,
			Source: thing(1), Queued: s.Now})
		w := find(s.run(), player(who))
		if w.Points != c.points || c.points != 0 && (w.Cause != CauseBlast || w.Instigator != player(0)) {
			t.Errorf("%d %s: %+v, want %d points", i, c.what, w, c.points)
		}
		if c.points != 0 && (!near(w.Impulse.Z, 10, 0.01) || !near(w.Impulse.X, 0, 0.01)) {
			t.Errorf("%d %s: impulse %v", i, c.what, w.Impulse)
		}
	}
}

// slowBlast is the slow twin: it tests all players, and all solids for a wall.
func slowBlast(s *stage, b Blast) map[int]int32 {
	hurt := map[int]int32{}
	for slot, p := range s.poses {
		fraction := float32(1)
		if p.ID == uint32(b.Instigator) {
			fraction = b.Splash.OwnerFraction
		} else if p.Team() == b.Team {
			continue
		}
		if !p.Alive() || fraction == 0 ||
			!lagcomp.TestSphere(rig.HeroBodies, geom.Sphere{Center: b.Center, Radius: b.Splash.Radius}, &p) {
			continue
		}
		free := func(height float32) bool {
			to := v3(p.Pos.X, p.Pos.Y+height, p.Pos.Z).Sub(b.Center)
			r := geom.Ray{Origin: b.Center, Dir: to.Normalize(), Max: to.Len()}
			for i := range s.Arena.Solids {
				one, err := arena.New("", s.Arena.Bounds, []arena.Solid{s.Arena.Solids[i]}, nil)
				if err != nil {
					panic(err)
				}
				if _, hit := one.Raycast(r); hit {
					return false
				}
			}
			return true
		}
		if !free(1.2) && !free(1.65) {
			continue
		}
		d := v3(p.Pos.X, p.Pos.Y+1.2, p.Pos.Z).Sub(b.Center).Len()
		f := min(max((d-b.Splash.FalloffStart)/(b.Splash.Radius-b.Splash.FalloffStart), 0), 1)
		hurt[slot] = int32((b.Splash.Damage*(1-f)+b.Splash.MinDamage*f)*fraction + 0.5)
	}
	return hurt
}

func TestRow53BlastsAgainstTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	reached := 0
	for range 25 {
		var solids []arena.Solid
		for range 8 {
			lo := v3(float32(rng.IntN(64)-32)/4, 0, float32(rng.IntN(64)-32)/4)
			solids = append(solids, arena.NewSolid(arena.Shape(rng.IntN(5)), lo,
				lo.Add(v3(float32(1+rng.IntN(8))/2, float32(1+rng.IntN(8))/2, float32(1+rng.IntN(8))/2))))
		}
		s := newStage(plain(t, solids...), 40)
		for i := range s.poses {
			s.put(i, uint8(i%3), place(rng, 9))
			if i%9 == 0 {
				s.poses[i].Flags |= rig.FlagDead
			}
		}
		s.next()
		b := Blast{Center: place(rng, 8), Splash: DefaultGrenade().Splash, Instigator: player(1),
			Team: uint8(rng.IntN(3)), Source: thing(1), Queued: s.Now}
		s.Blasts.Add(b)
		want := slowBlast(s, b)
		got := map[int]int32{}
		for _, w := range s.run() {
			got[w.Victim.Index()] = w.Points
		}
		for slot := range s.poses {
			if d := got[slot] - want[slot]; d < -1 || d > 1 { // a half may be rounded either way
				t.Fatalf("slot %d: %d points, want %d", slot, got[slot], want[slot])
			}
		}
		reached += len(want)
	}
	if reached < 150 {
		t.Fatal(reached)
	}
}

// TestRow08BlastsWaitTheirTurn queues many blasts, some twice, under a small budget: all are
// resolved, the oldest first, each once, and not too many a tick; in whatever order they came, the
// same happens in the same ticks.
func TestRow08BlastsWaitTheirTurn(t *testing.T) {
	var first [][]DamageResult
	for round := range 3 {
		s := newStage(plain(t), 10)
		for i := range 10 {
			s.put(i, 1, v3(float32(i)*0.9, 0, 0))
			s.health[i] = 30000
		}
		s.Blasts.Budget = 25
		s.next()
		rng := rand.New(rand.NewPCG(5, uint64(round)))
		for _, i := range rng.Perm(30) {
			source := i % 20 // ten of them twice
			s.Blasts.Add(Blast{Center: v3(float32(source)/4, 1, 3), Splash: Splash{Radius: 9,
				Damage: float32(source + 1), MinDamage: float32(source + 1)},
				Instigator: player(50 + source), Team: 0, Source: thing(source), Queued: s.Now})
		}
		var ticks [][]DamageResult
		credited := map[int]int{}
		for s.Blasts.Len() > 0 {
			if len(ticks) > 0 {
				s.next()
			}
			before := s.Blasts.Resolved
			wounds := s.run()
			ticks = append(ticks, wounds)
			if n := s.Blasts.Resolved - before; n == 0 || n > 3 {
				t.Fatalf("%d blasts in a tick", n)
			}
			for _, w := range wounds {
				credited[w.Instigator.Index()-50]++
			}
		}
		if s.Blasts.Merged != 10 || s.Blasts.Resolved != 20 || s.Blasts.Deferred == 0 || len(ticks) < 6 {
			t.Errorf("%+v in %d ticks", s.Blasts, len(ticks))
		}
		for source := range 20 {
			if credited[source] != 10 {
				t.Errorf("blast %d reached %d of 10", source, credited[source])
			}
		}
		if round == 0 {
			first = ticks
		} else if !slices.EqualFunc(ticks, first, slices.Equal[[]DamageResult]) {
			t.Error("another order, another outcome")
		}
	}
}

func TestBlastsAllocateNothing(t *testing.T) {
	s, projectiles, grenades := skirmish(t, 200, 40)
	tick := func() {
		s.next()
		battle(s, projectiles, grenades)
	}
	for range 60 {
		tick()
	}
	if n := alloctest.In(30, tick); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
