package lagcomp_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

func Example() {
	h := lagcomp.NewHistory(2, 60)
	for now := tick.Tick(1); now <= 60; now++ { // a player runs past at 6 m/s, ten metres away
		h.Record(now, []rig.Pose{1: {ID: 7, Pos: geom.Vec3{X: float32(now) / 10, Z: 10}}})
	}
	// The shooter saw the way from tick 30 to 33 half gone, and aimed well.
	shot := lagcomp.Sweep{View: tick.View{From: 30, To: 33, Frac: 128}, Except: 3}
	shot.Ray = geom.Ray{Origin: geom.Vec3{X: 3.15, Y: 1.65}, Dir: geom.Vec3{Z: 1}, Max: 100}
	s, hits := lagcomp.NewSweeper(h), make([]lagcomp.Hit, 1)
	s.Cast([]lagcomp.Sweep{shot}, hits)
	fmt.Printf("%d %s %.2f m\n", hits[0].ID, hits[0].Part, hits[0].Distance)

	shot.View = tick.View{From: 60, To: 60} // where the runner is now
	s.Cast([]lagcomp.Sweep{shot}, hits)
	fmt.Println(hits[0].Part)
	// Output:
	// 7 head 9.88 m
	// none
}
