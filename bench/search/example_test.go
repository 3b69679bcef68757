package search_test

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

// A machine whose tick costs 9 µs a player is measured; 9 µs times 1111 players is the limit of 10
// ms.
func Example() {
	run := func(players int) measure.Step {
		tick := measure.Quantiles{P99: 0.009 * float64(players), Mean: 0.009 * float64(players)}
		return measure.Step{
			Players: players, Duration: measure.Span{Duration: 4 * time.Second}, TickCPUMillis: tick, TickWallMillis: tick,
			SnapshotAgeMillis: measure.Quantiles{P99: 60}, InputsExpected: uint64(240 * players),
		}
	}
	var steps []measure.Step
	s := search.Search{Start: 100}
	for {
		players, ok := s.Next(0) // elapsed time, for searches that have a Limit
		if !ok {
			break
		}
		steps = append(steps, s.Record(run(players)))
	}
	knee, cost := s.Knee(), measure.Fit(steps)
	fmt.Println(len(steps), "steps")
	fmt.Println(knee.Players, knee.Bound, knee.Term)
	fmt.Printf("%.1f µs a player\n", 1000*cost.Total.B)
	// Output:
	// 9 steps
	// 1108 measured p99(tick) <= 0.6 * period
	// 9.0 µs a player
}
