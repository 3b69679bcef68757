package object

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
)

// TestRow55Barrels lines barrels up 4 m apart and shoots the first: each breaks the next a tick
// later, the result does not depend on their order in the list, and the shooter is credited once
// for each death.
func TestRow55BarrelsChain(t *testing.T) {
	type outcome struct {
		broken [9]tick.Tick
		health int16
		kills  int
	}
	var first outcome
	for round := range 5 {
		s := newStage(plain(t), 2)
		s.put(0, 0, v3(-30, 0, 0))
		s.put(1, 0, v3(33, 0, 0)) // a team mate of the shooter: barrels hurt all teams
		rng := rand.New(rand.NewPCG(8, uint64(round)))
		for _, i := range rng.Perm(9) {
			s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(i), v3(float32(i)*4, 0, 0)))
		}
		s.next()
		s.Damage.Add(Damage{Victim: thing(0), Instigator: player(0), Points: 12})
		var o outcome
		for range 20 {
			before := s.Blasts.Resolved
			for _, w := range s.run() {
				if w.Killed && w.Victim == player(1) {
					o.kills++
					if w.Instigator != player(0) || w.Cause != CauseBlast {
						t.Errorf("%+v", w)
					}
				}
			}
			if n := s.Blasts.Resolved - before; n > 2 {
				t.Errorf("%d barrels in one tick", n)
			}
			s.next()
		}
		for _, b := range s.Barrels {
			o.broken[b.ID.Index()-100000] = b.Broken
		}
		o.health = s.health[1]
		if round == 0 {
			first = o
		} else if o != first {
			t.Errorf("%+v, in another order %+v", o, first)
		}
	}
	if want := [9]tick.Tick{1, 2, 3, 4, 5, 6, 7, 8, 9}; first.broken != want || first.kills != 1 ||
		first.health != 0 {
		t.Errorf("%+v", first)
	}
}

func TestRow55BarrelStopsAProjectile(t *testing.T) {
	s := newStage(plain(t), 2)
	s.put(0, 0, v3(0, 0, 0))
	s.put(1, 1, v3(0, 0, 20))
	s.Barrels = []Barrel{s.BarrelKind.NewBarrel(thing(9), v3(0, 0, 18))}
	all := []Projectile{Launch(thing(1), Trajectory{Start: v3(0, 0.5, 1), Owner: player(0)}, tick.View{})}
	var wounds []DamageResult
	for range 30 {
		s.next()
		s.StepProjectiles(all)
		wounds = append(wounds, s.run()...)
	}
	if all[0].Hit != HitBarrel || s.Barrels[0].Broken != all[0].Ended || !near(all[0].Point.Z, 17.4, 0.01) {
		t.Errorf("%+v %+v", all[0], s.Barrels[0])
	}
	if w := find(wounds, player(1)); w.Points != 90 || w.Instigator != player(0) || s.health[1] != 10 {
		t.Errorf("%+v", wounds)
	}
	if _, _, ok := s.SweepBarrels(geom.Ray{Origin: v3(0, 0.5, 0), Dir: v3(0, 0, 1), Max: 99}, 0.3); ok {
		t.Error("a broken barrel stops what flies")
	}
}

// Many at once: every barrel of a heap breaks once, whatever reaches it.
func TestRow55BarrelHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var broken []tick.Tick
	for round := range 3 {
		s := newStage(plain(t), 1)
		s.put(0, 0, v3(60, 0, 60))
		s.Blasts.Budget = 40
		for _, i := range rng.Perm(60) {
			s.Barrels = append(s.Barrels, s.BarrelKind.NewBarrel(thing(i),
				v3(float32(i%8)*2, 0, float32(i/8)*2)))
		}
		s.next()
		s.Damage.Add(Damage{Victim: thing(0), Instigator: player(0), Points: 10})
		died := map[int]int{}
		for range 100 {
			for _, w := range s.run() {
				if w.Killed {
					died[w.Victim.Index()]++
				}
			}
			s.next()
		}
		got := make([]tick.Tick, 60)
		for _, b := range s.Barrels {
			got[b.ID.Index()-100000] = b.Broken
			if died[b.ID.Index()] != 1 || b.Health != 0 {
				t.Fatalf("%+v died %d times", b, died[b.ID.Index()])
			}
		}
		if s.Blasts.Resolved != 60 || s.Blasts.Deferred == 0 {
			t.Errorf("%+v", s.Blasts)
		}
		if round == 0 {
			broken = got
		} else if !slices.Equal(broken, got) {
			t.Error("another order, another outcome")
		}
	}
}
