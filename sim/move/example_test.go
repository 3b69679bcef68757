package move_test

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
)

// A player runs for a second from the first spawn of a built-in map.
func Example() {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	spawn := a.TeamSpawns(0)[0]
	body := move.DefaultParams().MustCompile()
	m := move.Motion{Pos: spawn.Pos}
	for t := range tick.Tick(60) {
		now := arena.Moment{Tick: t + 1, Rate: tick.DefaultRate} // where the map's movers are
		m = body.Step(m, move.Input{Yaw: spawn.Yaw, MoveMag: 255}, move.NoTeam, a, now)
	}
	fmt.Printf("%v at %.1f m/s, %.1f m from where it began\n", m.Loco, m.Vel.Len(),
		m.Pos.Sub(spawn.Pos).Len())
	// Output: move at 6.0 m/s, 5.9 m from where it began
}
