package capacity_test

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
)

// A machine whose tick costs 9 µs a player is measured; 9 µs times 1111 players is the limit of 10 ms.
func Example() {
	measure := func(players int) capacity.Step {
		tick := capacity.Quantiles{P99: 0.009 * float64(players), Mean: 0.009 * float64(players)}
		return capacity.Step{
			Players: players, Duration: 4 * time.Second, TickCPUMillis: tick, TickWallMillis: tick,
			SnapshotAgeMillis: capacity.Quantiles{P99: 60}, InputsExpected: uint64(240 * players),
		}
	}
	var plan capacity.Plan
	search := capacity.Search{Start: 100}
	for {
		players, ok := search.Next(0) // elapsed time, for searches that have a Limit
		if !ok {
			break
		}
		plan.Steps = append(plan.Steps, search.Record(measure(players)))
	}
	plan.Knee, plan.Fit = search.Knee(), capacity.Fit(plan.Steps)
	fmt.Println(len(plan.Steps), "steps")
	fmt.Println(plan.Knee.Players, plan.Knee.Bound, plan.Knee.Binding[0])
	fmt.Printf("%.1f µs a player\n", plan.Fit.Total.B)
	// Output:
	// 10 steps
	// 1080 measured p99 tick CPU 10.44 ms, over 10.00 ms (0.6 * period)
	// 9.0 µs a player
}
