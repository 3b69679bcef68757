package lagcomp_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// Another game: cars that are a box with a ball for the driver's head. The table of shapes is data; both
// ends use it, so a client's verdict is the server's.
func Example_ownShapes() {
	hull := geom.AABB{Min: geom.Vec3{X: -0.9, Y: 0.2, Z: -2}, Max: geom.Vec3{X: 0.9, Y: 1.1, Z: 2}}
	head := geom.Vec3{Y: 1.3, Z: -0.3}
	bodies, err := rig.NewBodies(rig.Build{Name: "car", Shapes: []rig.Shape{
		{Name: "hull", Part: rig.PartTorso, Box: hull},
		{Name: "driver's head", Part: rig.PartHead, Capsule: geom.Capsule{A: head, B: head, Radius: 0.2}},
	}})
	if err != nil {
		panic(err)
	}
	h := lagcomp.NewHistoryOf(bodies, 2, 60)
	for now := tick.Tick(1); now <= 60; now++ { // it drives by at 30 m/s, twenty metres away
		h.Record(now, []rig.Pose{1: {ID: 7, Pos: geom.Vec3{X: float32(now) / 2, Z: 20}, Yaw: geom.Degrees(90),
			Form: rig.FormOf(0, rig.Stand)}})
	}
	seen := tick.View{From: 30, To: 33, Frac: 128} // the shooter saw it at x = 15.75
	shot := func(x, y float32) lagcomp.Sweep {
		s := lagcomp.Sweep{View: seen, Except: 3}
		s.Ray = geom.Ray{Origin: geom.Vec3{X: x, Y: y}, Dir: geom.Vec3{Z: 1}, Max: 100}
		return s
	}
	hits := make([]lagcomp.Hit, 3)
	lagcomp.NewSweeper(h).Cast([]lagcomp.Sweep{shot(14, 0.5), shot(15.45, 1.3), shot(18, 0.5)}, hits)
	for _, hit := range hits {
		if hit.ID == 0 {
			fmt.Println("a miss")
			continue
		}
		fmt.Printf("%d: %s (%s) after %.2f m\n", hit.ID, bodies.BoneName(0, hit.Bone), hit.Part, hit.Distance)
	}
	// Output:
	// 7: hull (torso) after 19.10 m
	// 7: driver's head (head) after 19.80 m
	// a miss
}
