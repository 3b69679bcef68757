package sim

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow07WhoHarmsWhom compares Hostile, Root and Harms with tables: of players of two teams, a
// projectile, a grenade, a barrel, a spectator, and entities that are gone.
func TestRow07WhoHarmsWhom(t *testing.T) {
	for a := range uint8(4) {
		for b := range uint8(4) {
			if want := a != b && a < 2 && b < 2; Hostile(a, b) != want {
				t.Errorf("teams %d and %d: %v", a, b, !want)
			}
		}
	}
	if Hostile(0, lagcomp.NoTeam) || Hostile(lagcomp.NoTeam, 1) {
		t.Error("a spectator takes part")
	}
	s := newScene(t, 4, Rules{Game: furnished()}, plain(t))
	for i := range s.ids {
		s.put(i, uint8(i%2), *s.pos.Get(s.ids[i]))
	}
	ann, bob, amy, ben := s.ids[0], s.ids[1], s.ids[2], s.ids[3]
	rivet := s.launch(object.Trajectory{Owner: ann, Tick: s.Tick()}, tick.View{})
	bomb := s.throw(object.Grenade{Owner: bob, Thrown: s.Tick()})
	watcher := s.JoinSpectator()
	s.World.Flush()
	barrel := s.Scene().Barrels[0].ID
	for i, c := range []struct {
		source, victim, root netid.ID
		harms                bool
	}{
		{ann, bob, ann, true}, {ann, amy, ann, false}, {ann, ann, ann, false}, {bob, ann, bob, true},
		{rivet, bob, ann, true}, {rivet, ben, ann, true}, {rivet, amy, ann, false}, {rivet, ann, ann, false},
		{bomb, ann, bob, true}, {bomb, ben, bob, false}, {bomb, bob, bob, false},
		{barrel, ann, 0, false}, {0, ann, 0, false}, {ann, barrel, ann, false}, {ann, 0, ann, false},
		{netid.Make(3, 9), ann, 0, false}, {watcher, ann, watcher, false}, {ann, watcher, ann, false},
	} {
		if root, harms := s.Root(c.source), s.Harms(c.source, c.victim); root != c.root || harms != c.harms {
			t.Errorf("%d: %v belongs to %v, want %v; harms %v: %v, want %v", i, c.source, root, c.root,
				c.victim,
				harms, c.harms)
		}
	}
	s.Vital(bob).Respawn = s.Tick() + 100
	if s.Harms(ann, bob) {
		t.Error("the dead are harmed")
	}
	s.Leave(ann)
	s.World.Flush()
	if s.Root(rivet) != 0 || s.Harms(rivet, ben) {
		t.Error("what a player that left has fired belongs to somebody")
	}
}
