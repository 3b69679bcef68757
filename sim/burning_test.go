package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow01BurningComesAndGoes: the match adds components to living players and takes them away. A
// player that walks through fire burns on outside, for as long as the area says, and no row of the
// players moves; death puts the fire out, and a saved match goes on burning.
func TestRow01BurningComesAndGoes(t *testing.T) {
	g := quick(func(g *Game) {
		g.Layout.Areas = []DamageArea{{box(-2, -2, 2, 2),
			object.AreaKind{Points: 7, PerSecond: 6, BurnMillis: 1000}}}
	})
	s := newScene(t, 3, Rules{Game: g, Rate: 60}, plain(t))
	ids := append(s.ids[:0:0], s.ids...)
	for i := range s.ids {
		s.put(i, uint8(i%2), geom.Vec3{X: 20, Z: float32(4 * i)})
	}
	s.put(1, 1, geom.Vec3{})
	s.step() // the area hits, and the fire comes with the end of the tick
	if b := s.burning.Get(ids[1]); b == nil || s.burning.Get(ids[0]) != nil || s.Vital(ids[1]).Health != 93 {
		t.Fatalf("burning: %v, health %d", b, s.Vital(ids[1]).Health)
	}
	inside := s.Tick()
	for range 25 { // it stays in: the area hits every 10 ticks, and the fire not besides
		s.step()
	}
	if h := s.Vital(ids[1]).Health; h != 93-2*7 {
		t.Errorf("health %d after %d ticks in the fire", h, s.Tick()-inside)
	}
	s.put(1, 1, geom.Vec3{X: 20, Z: 4})
	last := s.Tick() - 5 // tick 20 of 25 was the area's last hit
	state, err := s.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Load(3, *s.Rules(), s.Scene().Arena, state)
	if err != nil {
		t.Fatal(err)
	}
	for range 90 {
		s.step()
		copied.Step()
	}
	if b := s.burning.Get(ids[1]); b != nil || s.Tick() < last+61 {
		t.Errorf("tick %d: %+v burns since %d", s.Tick(), b, last)
	}
	if h := s.Vital(ids[1]).Health; h != 93-7*7 { // 11, 21, 31, 41 and 51 ticks after the area's last hit
		t.Errorf("health %d, want %d", h, 93-7*7)
	}
	if s.Hash() != copied.Hash() {
		t.Error("the loaded match went another way")
	}
	for row, id := range s.Match.ids() {
		if id != ids[row] {
			t.Errorf("row %d is %v, was %v", row, id, ids[row])
		}
	}
	s.put(1, 1, geom.Vec3{})
	s.step()
	s.Vital(ids[1]).Health = 1
	for range 12 {
		s.step()
	}
	if s.Vital(ids[1]).Alive() || s.burning.Get(ids[1]) != nil {
		t.Error("the dead burn")
	}
	s.put(2, 0, geom.Vec3{})
	s.step()
	if s.burning.Get(ids[2]) == nil {
		t.Fatal("does not burn")
	}
	s.Leave(ids[2])
	s.ids = s.ids[:2]
	s.step()
	if n := s.World.Count(s.kinds[pageBurning]); n != 0 {
		t.Errorf("%d burn after the last has left", n)
	}
}

// TestDeathPutsFireOutBeforeRespawn: where players respawn with the next tick, a player that died
// burning does not burn at its spawn point.
func TestDeathPutsFireOutBeforeRespawn(t *testing.T) {
	g := quick(func(g *Game) {
		g.Mode.RespawnMillis = 0
		g.Layout.Areas = []DamageArea{{box(-2, -2, 2, 2),
			object.AreaKind{Points: 7, PerSecond: 6, BurnMillis: 5000}}}
	})
	s := newScene(t, 2, Rules{Game: g, Rate: 60}, plain(t))
	s.put(1, 1, geom.Vec3{})
	s.step()
	if s.burning.Get(s.ids[1]) == nil {
		t.Fatal("does not burn")
	}
	v := s.Vital(s.ids[1])
	for v.Health = 1; v.Deaths == 0; v = s.Vital(s.ids[1]) {
		s.step()
	}
	for range 60 {
		if s.step(); len(s.Outcome().Events) != 0 || s.burning.Get(s.ids[1]) != nil {
			t.Fatalf("burns after its respawn: %+v", s.Outcome().Events)
		}
	}
	if v = s.Vital(s.ids[1]); !v.Alive() || v.Deaths != 1 {
		t.Errorf("%+v", v)
	}
}

// TestSparseComponentsBelongToPlayers: a state in which a barrel burns or is to be teleported is
// refused by name.
func TestSparseComponentsBelongToPlayers(t *testing.T) {
	barrel := netid.Make(FirstBarrel, 1)
	for name, add := range map[string]func(m *Match){
		"burning player": func(m *Match) { m.burning.Add(barrel, Burning{Every: 1}) },
		"due teleport": func(m *Match) {
			p := m.layout().Teleporters[0]
			m.teleporting.Add(barrel, object.TeleportRequest{ID: barrel, Pos: p.Target, Yaw: p.Yaw})
		},
	} {
		s := newScript(t, 4, Rules{Game: furnished()}, "arena-16")
		s.step()
		add(s.m)
		s.m.World.Flush()
		state, err := s.m.Save(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := name + ": entity " + barrel.String() + ", expected a player"
		if _, err = Load(4, *s.m.Rules(), s.m.Scene().Arena, state); !errors.Is(err, ErrState) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkBurning is a tick in which every third of 1000 players catches fire or is put out.
func BenchmarkBurning(b *testing.B) {
	w := newWar(b, 1000, true)
	n := 0
	turn := func() {
		n++
		for i, id := range w.ids {
			if (i+n)%3 == 0 {
				w.m.burning.Add(id, Burning{Every: 1 << 30, Next: 1 << 30, Until: 1 << 30})
			} else {
				w.m.burning.Remove(id)
			}
		}
		w.m.World.Flush()
	}
	turn()
	b.ReportAllocs()
	for b.Loop() {
		turn()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/player")
}
