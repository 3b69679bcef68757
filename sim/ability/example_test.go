package ability_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/ability"
)

// A Terraformer runs, and holds its trigger for a second and a half.
func Example() {
	hero := ability.TerraformerParams().MustCompile(60)
	state := hero.NewState()
	shots := 0
	for t := range tick.Tick(90) {
		in := ability.Input{Tick: t, Buttons: ability.Primary, MoveMag: 255, Grounded: true, Alive: true}
		var out ability.Actions
		ability.Step(&state, in, hero, &out)
		for _, a := range out.All() {
			if a.Kind == ability.ActionShot {
				shots++
			}
		}
	}
	fmt.Printf("%d shots, %d rounds left, the cone is %.2f degrees wide\n", shots, state.Slots[0].Load,
		float64(state.Slots[0].Heat)/256)
	// Output: 21 shots, 4 rounds left, the cone is 8.00 degrees wide
}
