package swarm

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// From every spawn of an arena, generated or built in, there is a way to every point; each step of
// it is shorter than the one before.
func TestFlowFieldLeadsToThePoints(t *testing.T) {
	for _, name := range []string{"gen:64:3", "town:64:3", "town:200:1", "arena-64", "arena-256"} {
		a, err := arena.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		game, err := sim.GameForArena(content.Default(), name, "assault")
		if err != nil {
			t.Fatal(err)
		}
		if game, err = game.OnArena(a); err != nil {
			t.Fatal(err)
		}
		var w FlowField
		w.renew(a, game)
		lost, total := 0, 0
		for point, z := range game.Layout.Points {
			for _, s := range a.Spawns {
				total++
				pos, ok := s.Pos, false
				for range 4000 {
					to, known := w.Next(point, pos)
					if !known || to == pos {
						break
					}
					if pos = to; pos.Sub(z.Center).LenSq() < 2 {
						ok = true
						break
					}
				}
				if !ok {
					lost++
				}
			}
		}
		if lost > total/50 { // a spawn may be on a deck, from which one jumps
			t.Errorf("%s: no way from %d of %d spawns", name, lost, total)
		}
		// From beyond the bounds is from their edge, and no panic.
		w.Next(0, geom.Vec3{X: 1e4, Y: 0, Z: -1e4})
	}
}
