package lagcomp_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// A rocket explodes at its first contact with a player, tested at the time of its shooter's view.
func ExampleSweeper() {
	h := lagcomp.NewHistory(3, 60)
	for now := tick.Tick(1); now <= 60; now++ { // two run abreast at 6 m/s, two metres apart
		x := float32(now) / 10
		h.Record(now, []rig.Pose{
			{ID: 7, Pos: geom.Vec3{X: x, Z: 10}},
			{ID: 8, Pos: geom.Vec3{X: x, Z: 12}},
		})
	}
	s := lagcomp.NewSweeper(h)
	view := tick.View{From: 30, To: 33, Frac: 128} // half of the way from tick 30 to 33

	rocket := lagcomp.Sweep{Ray: geom.Ray{Origin: geom.Vec3{X: 3.15, Y: 1.2}, Dir: geom.Vec3{Z: 1},
		Max: 100}, Radius: 0.1, View: view}
	hits := make([]lagcomp.Hit, 1)
	s.Cast([]lagcomp.Sweep{rocket}, hits)
	fmt.Printf("%d at the %s after %.2f m\n", hits[0].ID, rig.HeroBodies.BoneName(0, hits[0].Bone), hits[0].Distance)

	blast := lagcomp.OverlapQuery{Capsule: geom.Capsule{A: hits[0].Point, B: hits[0].Point, Radius: 3},
		View: view}
	for _, t := range s.Overlap([]lagcomp.OverlapQuery{blast}, nil) {
		fmt.Printf("%d is %.1f m from the blast\n", t.ID, t.Distance)
	}
	// Output:
	// 7 at the chest after 9.73 m
	// 7 is 0.1 m from the blast
	// 8 is 2.1 m from the blast
}
