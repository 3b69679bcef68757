package rig_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/lagcomp/rig"
)

// A shot at the head of a runner, judged half way between two snapshots.
func ExampleBodies_Test() {
	then := rig.Pose{
		ID: 7, Flags: rig.Flags(true, 1, 0), Form: rig.FormOf(rig.Robot, rig.Run),
		Pos: geom.Vec3{X: 10}, Gait: 187, Aim: 255, Phase: 0xF000,
	}
	next := then
	next.Pos.Z, next.Phase = 0.3, 0x1000

	seen := rig.Lerp(&then, &next, 128)
	shot := geom.Ray{Origin: geom.Vec3{X: -20, Y: 1.95, Z: 0.25}, Dir: geom.Vec3{X: 1}, Max: 100}
	hit, ok := rig.HeroBodies.Test(shot, 0, &seen)
	fmt.Printf("%v: %v (%v) after %.2f m\n", ok, rig.HeroBodies.BoneName(then.Form.Build(), hit.Bone), hit.Part, hit.Distance)
	// Output: true: head (head) after 29.82 m
}
