package sim

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/object"
)

// stocked is a game with a medkit and, far off, ammunition.
func stocked() *Game {
	return quick(func(g *Game) {
		g.Items = []object.ItemKind{{Heal: 50, Radius: 1, RespawnMillis: 1000},
			{Gives: object.GivesAmmo, Radius: 1, RespawnMillis: 500}}
		g.Layout.Items = []PlacedItem{{Pos: geom.Vec3{X: 20}}, {Pos: geom.Vec3{X: -20}, Kind: 1}}
	})
}

// TestRow55ItemIsPickedUp is a medkit's script: a player in full health leaves it, a hurt one takes
// it, up to full health; it is gone for its time, and there again for the next.
func TestRow55ItemIsPickedUp(t *testing.T) {
	s := newScene(t, 2, Rules{Game: stocked()}, plain(t))
	ann, bob := s.ids[0], s.ids[1]
	here := geom.Vec3{X: 20.5}
	item := func() Item { it, _ := ItemOf(s.Match, 0); return it }
	s.put(0, 0, here)
	s.put(1, 1, geom.Vec3{Z: 40})
	for range 10 {
		s.step()
	}
	if item().Taken != 0 {
		t.Fatal("taken by a player that it does not heal")
	}
	s.Vital(ann).Health = 30
	s.step()
	now := s.Tick()
	if it := item(); it.Taken != now || it.By != ann || it.Back != now+60 || s.Vital(ann).Health != 80 {
		t.Fatalf("%+v in tick %d, %d points", it, now, s.Vital(ann).Health)
	}
	s.Vital(ann).Health, s.Vital(bob).Health = 50, 99
	s.put(1, 1, here)
	for range 59 {
		if s.step(); item().Taken != now {
			t.Fatalf("tick %d: %+v", s.Tick(), item())
		}
	}
	if s.step(); item().Taken != s.Tick() || s.Vital(ann).Health+s.Vital(bob).Health != 150 &&
		s.Vital(ann).Health+s.Vital(bob).Health != 199 {
		t.Errorf("%+v, %d and %d points", item(), s.Vital(ann).Health, s.Vital(bob).Health)
	}
	if s.Vital(bob).Health > 100 {
		t.Errorf("more than full: %d points", s.Vital(bob).Health)
	}
}

// TestRow55AmmoFillsClips: the clips of the player that takes ammunition are full, and its client is
// told by Pushes that its prediction cannot know.
func TestRow55AmmoFillsClips(t *testing.T) {
	s := newScene(t, 1, Rules{Game: stocked()}, plain(t))
	ann := s.ids[0]
	s.put(0, 0, geom.Vec3{X: -20})
	s.step()
	if it, _ := ItemOf(s.Match, 1); it.Taken != 0 {
		t.Fatal("taken with full clips")
	}
	_, abilities, vital := s.Self(ann)
	gun := 0
	for abilities.Slots[gun].Load == 0 {
		gun++
	}
	full := abilities.Slots[gun].Load
	s.ability.Get(ann).Slots[gun].Load = 1
	pushes := vital.Pushes
	s.step()
	_, abilities, vital = s.Self(ann)
	if it, _ := ItemOf(s.Match, 1); it.By != ann || abilities.Slots[gun].Load != full || vital.Pushes != pushes+1 {
		t.Errorf("%+v, %d rounds of %d, %d pushes", it, abilities.Slots[gun].Load, full, vital.Pushes-pushes)
	}
}

// TestItemsAreSaved plays a match with items, and a state of it on from its inputs, to the same
// bits. A state with an item elsewhere is refused.
func TestItemsAreSaved(t *testing.T) {
	g := stocked()
	s := newScript(t, 8, Rules{Seed: 9, RespawnMillis: 700, Mix: true, Game: g}, "arena-16")
	g.Layout.Items = nil
	for i, at := range s.m.Scene().Arena.Spawns {
		g.Layout.Items = append(g.Layout.Items, PlacedItem{at.Pos, uint8(i % 2)})
	}
	s = newScript(t, 8, Rules{Seed: 9, RespawnMillis: 700, Mix: true, Game: g}, "arena-16")
	var inputs TickInputs
	var copied *Match
	taken := map[int]bool{}
	for i := range 500 {
		if i == 250 {
			state, err := s.m.Save(nil)
			if err != nil {
				t.Fatal(err)
			}
			copied = s.load(t, state)
			if again, err := copied.Save(nil); err != nil || !bytes.Equal(again, state) {
				t.Error("loaded and saved again, it is another state", err)
			}
			s.m.SetInputLog(&inputs)
		}
		s.step()
		if copied != nil {
			if err := copied.Replay(&inputs); err != nil || copied.Hash() != s.m.Hash() {
				t.Fatalf("tick %d of the loaded match is another: %v", i, err)
			}
		}
		for k := range Items(s.m) {
			if it, _ := ItemOf(s.m, k); it.Taken != 0 {
				taken[k] = true
			}
		}
	}
	if len(taken) == 0 {
		t.Error("nothing was taken")
	}
	state, err := s.m.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Layout.Items[0].Pos.X++
	if _, err := Load(8, s.m.rules.WithDefaults(), s.m.arena, state); err == nil {
		t.Error("a state whose item lies elsewhere is loaded")
	}
}

// TestRow15ItemsFromPacks: a pack declares kinds of items and places them; what is wrong with
// either is refused by name.
func TestRow15ItemsFromPacks(t *testing.T) {
	const kinds = "[[item]]\nname = \"kit\"\ngives = \"health\"\nheal = 40\nradius_m = 1.5\nrespawn_ms = 15000\n\n" +
		"[[item]]\nname = \"shells\"\ngives = \"ammo\"\nradius_m = 1\nrespawn_ms = 1000\n\n"
	for _, c := range []struct{ kinds, placed, want string }{
		{kinds, "kind = \"shells\"\nat_m = [1, 0, 2]", ""},
		{kinds, "kind = \"shell\"\nat_m = [1, 0, 2]", "want the name of a row of [[item]]"},
		{strings.Replace(kinds, "heal = 40\n", "", 1), "kind = \"shells\"\nat_m = [1, 0, 2]", ".heal"},
		{strings.Replace(kinds, "15000", "900000", 1), "kind = \"shells\"\nat_m = [1, 0, 2]", "respawn_ms"},
	} {
		pack, err := withItems(c.kinds, c.placed)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		on := &pack.Maps[len(pack.Maps)-2]
		g, err := GameFromPack(pack, on.Name, on.Modes[0])
		if err != nil {
			t.Fatal(err)
		}
		n := len(g.Items)
		if n < 2 || g.Items[n-1] != (object.ItemKind{Gives: object.GivesAmmo, Radius: 1, RespawnMillis: 1000}) ||
			len(g.Layout.Items) != 1 || g.Layout.Items[0] != (PlacedItem{geom.Vec3{X: 1, Z: 2}, uint8(n - 1)}) {
			t.Errorf("%+v %+v", g.Items, g.Layout.Items)
		}
	}
}

// withItems is the default pack with more kinds of items, and one of them on its last map but one.
func withItems(kinds, placed string) (*content.Pack, error) {
	text := string(content.Default().Canonical(content.Server))
	at := strings.LastIndex(text, "\n[[map]]")
	text = text[:at] + "\n[[map.item]]\n" + placed + "\n" + text[at:] + "\n" + kinds
	return content.LoadFor(fstest.MapFS{"pack.toml": {Data: []byte(text)}}, content.Server)
}
