package mode_test

import (
	"fmt"

	"github.com/tickrate/tickrate/sim/mode"
)

// Two attackers stand in the zone of the first point once the round has begun.
func ExampleDefaultAssault() {
	rules := mode.DefaultAssault().MustCompile(60)
	state := rules.Start()
	in := mode.Input{Players: [mode.Teams]uint16{2, 2}, Zones: []mode.Occupancy{{mode.Attackers: 2}}}
	var out mode.Output
	for state.Point == 0 {
		state = rules.Step(state, &in, &out)
	}
	fmt.Println(out.Announcements[0].Kind == mode.PointCaptured, out.Announcements[0].Value, "points left")
	// Output: true 2 points left
}
