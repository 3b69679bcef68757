package mapcheck

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// TestRow55MoversOnAMap: the fill rides an elevator to a deck that no jump reaches, and another from
// there to a deck above. A spawn point or a teleporter's target in a mover's travel is a problem.
func TestRow55MoversOnAMap(t *testing.T) {
	elevator := arena.Mover{Min: geom.Vec3{X: -2, Z: -2}, Max: geom.Vec3{X: 2, Y: 0.25, Z: 2},
		Travel: geom.Vec3{Y: 6}, TravelMillis: 3000, DwellMillis: 1000}
	second := arena.Mover{Min: geom.Vec3{X: 2, Y: 6, Z: 2}, Max: geom.Vec3{X: 4, Y: 6.25, Z: 4},
		Travel: geom.Vec3{Y: 6}, TravelMillis: 3000, DwellMillis: 1000}
	decks := []arena.Solid{box(2, 6, -2, 4, 6.25, 2), box(4, 12, 2, 6, 12.25, 4)}
	point := content.Map{Points: []content.Point{{Name: "top", At: geom.Vec3{X: 5, Y: 12.25, Z: 3}}}}
	for _, tt := range []struct {
		name   string
		movers []arena.Mover
		spawns []arena.Spawn
		things content.Map
		want   []string
	}{
		{"by two elevators", []arena.Mover{elevator, second}, both(), point, nil},
		{"by one of them", []arena.Mover{elevator}, both(), point,
			[]string{"object cut off: capture point top"}},
		{"no mover", nil, both(), point, []string{"object cut off: capture point top"}},
		{"in the way", []arena.Mover{elevator}, both(arena.Spawn{Pos: geom.Vec3{X: 2.25}}),
			content.Map{Teleporters: []content.Port{{Box: geom.AABB{Min: geom.Vec3{X: 5, Z: -1},
				Max: geom.Vec3{X: 7, Y: 2, Z: 1}}, Target: geom.Vec3{X: 2.25, Z: 1}}}},
			[]string{"mover in the way: movers[0] comes to spawns[1] of team 0",
				"mover in the way: movers[0] comes to target of teleporter 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := yard(t, tt.spawns, decks...)
			a, err := arena.New("test", a.Bounds, a.Solids, a.Spawns, tt.movers...)
			if err != nil {
				t.Fatal(err)
			}
			r := check(t, Input{Arena: a, Map: &tt.things})
			var got []string
			for _, p := range r.Problems {
				got = append(got, p.Kind.String()+": "+p.Text)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("problems %q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("problem %q, want %q", got[i], tt.want[i])
				}
			}
		})
	}
}
