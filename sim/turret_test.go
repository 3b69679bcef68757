package sim

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/parallel"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/alloctest"
	"github.com/tickrate/tickrate/sim/content"
)

// armed is a game with a turret in the middle and one far off.
func armed() *Game {
	return quick(func(g *Game) {
		g.Layout.Objects = []PlacedObject{{Kind: "turret"},
			{Kind: "turret", Pos: geom.Vec3{X: 60, Z: 60}, Yaw: 0x4000}}
	})
}

// TestRow07TurretObeysItsOwner: a turret belongs to the player that stood at it, fires at that
// player's enemies and at nobody else, gives it the credit, changes sides with another owner, and
// is still without one.
func TestRow07TurretObeysItsOwner(t *testing.T) {
	s := newScene(t, 3, Rules{Game: armed()}, plain(t))
	ann, bob, amy := s.ids[0], s.ids[1], s.ids[2]
	s.put(0, 0, geom.Vec3{X: -50})
	s.put(1, 1, geom.Vec3{Z: 15})
	s.put(2, 0, geom.Vec3{X: 12})
	for range 60 {
		if s.step(); len(s.Outcome().Events) != 0 {
			t.Fatalf("a turret without an owner hurts: %+v", s.Outcome().Events)
		}
	}
	s.put(0, 0, geom.Vec3{X: 1})
	s.step()
	s.put(0, 0, geom.Vec3{X: -50}) // it keeps what it took
	if _, owner, _ := TurretOf(s.Match, 0); owner != ann || s.Root(netid.Make(pageTurret<<20, 1)) != ann {
		t.Fatalf("it belongs to %v, want %v", owner, ann)
	}
	kills := 0
	for range 400 {
		s.step()
		for _, e := range s.Outcome().Events {
			if e.Victim != bob || e.Actor != ann {
				t.Fatalf("%+v", e)
			}
			if e.Kind == EventKill {
				kills++
			}
		}
		if kills > 0 {
			break
		}
	}
	if kills != 1 || s.Vital(ann).Kills != 1 || s.Vital(amy).Health != 100 {
		t.Fatalf("%d kills, %d of its owner's, a friend has %d points", kills, s.Vital(ann).Kills,
			s.Vital(amy).Health)
	}
	s.put(1, 1, geom.Vec3{X: 0, Z: -1}) // the other side takes it
	s.Vital(bob).Respawn, s.Vital(bob).Health = 0, 100
	for range 120 {
		s.step()
	}
	if _, owner, _ := TurretOf(s.Match, 0); owner != bob || s.Vital(amy).Health == 100 {
		t.Errorf("it belongs to %v, want %v; its enemy has %d points", owner, bob, s.Vital(amy).Health)
	}
	s.Leave(bob)
	s.ids = []netid.ID{ann, amy}
	for range 90 {
		s.step()
	}
	if _, owner, _ := TurretOf(s.Match, 0); owner != 0 {
		t.Errorf("it belongs to %v, who has left", owner)
	}
}

// TestTurretIsSavedAndDeterministic plays a match with turrets on 1, 2 and 4 workers to the same
// bits, and a state of it on from the inputs of the next 200 ticks.
func TestTurretIsSavedAndDeterministic(t *testing.T) {
	var copied *Match // of the state after 200 ticks
	play := func(r parallel.Runner) (hashes []uint64, state []byte, s *script) {
		var inputs TickInputs
		g := armed()
		s = newScript(t, 12, Rules{Seed: 9, RespawnMillis: 700, Mix: true, Game: g}, "arena-16")
		for i, at := range s.m.Scene().Arena.Spawns {
			if i%4 == 0 {
				g.Layout.Objects = append(g.Layout.Objects, PlacedObject{Kind: "turret", Pos: at.Pos})
			}
		}
		s = newScript(t, 12, Rules{Seed: 9, RespawnMillis: 700, Mix: true, Game: g}, "arena-16")
		s.m.SetWorkers(r)
		for i := range 400 {
			if i == 200 {
				var err error
				if state, err = s.m.Save(nil); err != nil {
					t.Fatal(err)
				}
				copied = s.load(t, state)
				if again, err := copied.Save(nil); err != nil || !bytes.Equal(again, state) {
					t.Error("loaded and saved again, it is another state", err)
				}
				s.m.SetInputLog(&inputs)
			}
			s.step()
			if i >= 200 {
				if err := copied.Replay(&inputs); err != nil {
					t.Fatal(err)
				}
				if copied.Hash() != s.m.Hash() {
					t.Fatalf("tick %d of the loaded match is another", i)
				}
			}
			hashes = append(hashes, s.m.Hash())
		}
		return hashes, state, s
	}
	want, state, s := play(nil)
	owned := 0
	for i := range Turrets(s.m) {
		if _, owner, _ := TurretOf(s.m, i); owner != 0 {
			owned++
		}
	}
	if owned == 0 {
		t.Fatal("no turret belongs to anybody")
	}
	for _, workers := range []int{2, 4} {
		pool := parallel.NewPool(workers)
		got, again, _ := play(pool)
		pool.Close()
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d workers: tick %d is another", workers, i)
			}
		}
		if !bytes.Equal(state, again) {
			t.Fatalf("%d workers: another state", workers)
		}
	}
}

// A turret whose enemies all stand behind a wall searches for a target ten times a second, not every
// tick: a search casts a ray at each of them.
func TestTurretWithoutATargetSearchesSeldom(t *testing.T) {
	s := newScene(t, 2, Rules{Game: armed(), Rate: 60}, plain(t))
	s.put(0, 0, geom.Vec3{X: 1})
	s.put(1, 1, geom.Vec3{X: 64, Z: 64}) // out of reach
	searches, last := 0, tick.Tick(0)
	for range 60 {
		s.step()
		if turret, _, _ := TurretOf(s.Match, 0); turret.Next != last {
			searches, last = searches+1, turret.Next
		}
	}
	if searches != 10 {
		t.Errorf("%d searches in a second, want 10", searches)
	}
	s.put(1, 1, geom.Vec3{X: 12})
	for n := 0; s.Vital(s.ids[1]).Health == 100; n++ {
		if s.step(); n > 6 {
			t.Fatal("does not shoot at an enemy in sight")
		}
	}
}

// An unknown kind on a map is refused with its name and what was expected.
func TestTurretIsExpectedByName(t *testing.T) {
	g := armed()
	g.Layout.Objects[1].Kind = "turet"
	want := `object 1 of the map: kind "turet": expected one of: turret`
	if _, err := (Rules{Game: g}).Compile(); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	m := New(2, Rules{Game: armed()}, plain(t))
	for range 4 {
		m.Step()
	}
	if n := alloctest.In(50, m.Step); n != 0 {
		t.Errorf("%v allocations in a tick", n)
	}
}

// A pack places turrets by name, and an unknown name is refused with those that are known.
func TestTurretOfAPack(t *testing.T) {
	text := string(content.Default().Canonical(content.Server))
	pack := func(kind string) (*content.Pack, error) {
		at := strings.LastIndex(text, "\n[[map]]")
		with := text[:at] + "\n[[map.object]]\nkind = \"" + kind + "\"\nat_m = [4, 0, 12]\nyaw = 16384\n" +
			text[at:]
		return content.LoadFor(fstest.MapFS{"pack.toml": {Data: []byte(with)}}, content.Server)
	}
	p, err := pack("turret")
	if err != nil {
		t.Fatal(err)
	}
	onMap := p.Maps[len(p.Maps)-2].Name
	g, err := GameFromPack(p, onMap, p.Maps[len(p.Maps)-2].Modes[0])
	if err != nil || len(g.Layout.Objects) != 1 || g.Layout.Objects[0].Pos != (geom.Vec3{X: 4, Z: 12}) {
		t.Fatalf("%v: %+v", err, g)
	}
	if p, err = pack("turet"); err != nil {
		t.Fatal(err)
	}
	if _, err = GameFromPack(p, onMap, p.Maps[len(p.Maps)-2].Modes[0]); err == nil ||
		!strings.Contains(err.Error(), `object 0 of the map: kind "turet": expected one of: turret`) {
		t.Error(err)
	}
}
