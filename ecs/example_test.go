package ecs_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs"
	"github.com/tickrate/tickrate/ecs/geom"
)

func Example() {
	type Place struct{ geom.Vec3 }
	type Speed struct{ geom.Vec3 }

	w := ecs.New(16)
	place, speed := ecs.Register[Place](w), ecs.Register[Speed](w)
	player := w.Kind("player", place, speed)

	ann, bob := w.Spawn(player), w.Spawn(player)
	w.Flush()
	speed.Get(bob).X = 6

	if v := w.View(player); v.Open() {
		places, speeds := ecs.Column(v, place), ecs.Column(v, speed)
		for i := range places {
			places[i].Vec3 = places[i].Mad(speeds[i].Vec3, 0.5)
		}
		v.Close()
	}
	fmt.Println(ann, place.Get(ann).X, bob, place.Get(bob).X)
	// Output: 0.1 0 1.1 3
}

// A resource is the world's one value of its type: state of systems that belongs to no entity.
func ExampleResource() {
	type Score struct{ Red, Blue int }

	w := ecs.New(16)
	ecs.SetResource(w, &Score{Red: 1})
	ecs.Resource[Score](w).Blue = 2
	fmt.Println(*ecs.Resource[Score](w))
	// Output: {1 2}
}
