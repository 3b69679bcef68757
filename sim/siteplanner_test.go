package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/mode"
	"github.com/tickrate/tickrate/sim/object"
)

// TestRow56PointsOfGeneratedArenas: for any seed, an assault has distinct points in order from the
// attackers' side to the defenders', where a player can stand; and each team has a home with some
// of its own spawns and none of the other's.
func TestRow56PointsOfGeneratedArenas(t *testing.T) {
	for players := 2; players <= 600; players = players*2 + 3 {
		for seed := range 6 {
			for _, kind := range []string{"gen", "town"} {
				name := fmt.Sprintf("%s:%d:%d", kind, players, seed)
				a, err := arena.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				game, err := GameForArena(content.Default(), name, "assault")
				if err != nil {
					t.Fatal(err)
				}
				on, err := game.OnArena(a)
				if err != nil {
					t.Fatal(err)
				}
				again, _ := game.OnArena(a)
				if len(game.Layout.Points) != 0 || !slices.Equal(on.Layout.Points, again.Layout.Points) ||
					!slices.Equal(on.Layout.Homes, again.Layout.Homes) {
					t.Fatalf("%s: %+v and then %+v, of %+v", name, on.Layout, again.Layout, game.Layout)
				}
				if third, err := on.OnArena(a); err != nil || third != on {
					t.Fatalf("%s: placed twice", name)
				}
				placed(t, name, a, &on.Layout)
			}
		}
	}
}

func placed(t *testing.T, name string, a *arena.Arena, l *Layout) {
	t.Helper()
	if len(l.Points) != 3 || len(l.Homes) != 2 {
		t.Fatalf("%s: %+v", name, l)
	}
	for i, z := range l.Points {
		feet := geom.AABB{Min: z.Center.Add(geom.Vec3{X: -0.5, Y: 0.1, Z: -0.5}),
			Max: z.Center.Add(geom.Vec3{X: 0.5, Y: 2, Z: 0.5})}
		if a.Overlaps(feet) || z.Radius != 5 || z.Height != 5 || i > 0 && z == l.Points[i-1] ||
			// of a handful of spawns none may be where it should
			i > 0 && len(a.Spawns) > 40 && z.Center.X <= l.Points[i-1].Center.X {
			t.Errorf("%s: point %d is %+v", name, i, z)
		}
	}
	for _, h := range l.Homes {
		own, others := 0, 0
		for _, s := range a.Spawns {
			switch at := s.Pos == s.Pos.Max(h.Box.Min).Min(h.Box.Max); {
			case at && s.Team == h.Team:
				own++
			case at:
				others++
			}
		}
		if others > 0 || own == 0 && len(a.Spawns) > 40 {
			t.Errorf("%s: in the home of team %d spawn %d of it and %d of the other", name, h.Team, own,
				others)
		}
	}
}

// An arena without spawns is no ground for an assault, and all the same for a deathmatch; a game
// whose map has points keeps them.
func TestGameOnNeedsSpawns(t *testing.T) {
	floor := arena.NewSolid(arena.Box, geom.Vec3{X: -9, Y: -1, Z: -9}, geom.Vec3{X: 9, Z: 9})
	bounds := geom.AABB{Min: geom.Vec3{X: -9, Y: -1, Z: -9}, Max: geom.Vec3{X: 9, Y: 9, Z: 9}}
	bare, err := arena.New("bare", bounds, []arena.Solid{floor}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := DefaultGame()
	if on, err := g.OnArena(bare); on != g || err != nil {
		t.Errorf("deathmatch: %v", err)
	}
	g.Mode = mode.DefaultAssault()
	if _, err := g.OnArena(bare); err == nil || !strings.Contains(err.Error(),
		"arena bare: spawns for 0 attackers") {
		t.Errorf("assault: %v", err)
	}
	g.Layout.Points = []object.Zone{object.DefaultZone(geom.Vec3{}), object.DefaultZone(geom.Vec3{}),
		object.DefaultZone(geom.Vec3{})}
	if on, err := g.OnArena(bare); on != g || err != nil {
		t.Errorf("with points: %v", err)
	}
	lined, err := arena.New("lined", bounds, []arena.Solid{floor}, []arena.Spawn{
		{Pos: geom.Vec3{Z: 5}}, {Pos: geom.Vec3{X: 1, Z: 5}}, {Pos: geom.Vec3{Z: -5}, Team: 1},
		{Pos: geom.Vec3{X: 1, Z: -5}, Team: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Layout.Points = nil
	on, err := g.OnArena(lined)
	if err != nil || on.Layout.Homes[0].Box.Min.Z != 7 || on.Layout.Homes[1].Box.Max.Z != -7 {
		t.Errorf("teams along z: %+v, %v", on, err)
	}
}
