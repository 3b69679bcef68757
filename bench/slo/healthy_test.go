package slo

import (
	"time"

	"github.com/tickrate/tickrate/bench/measure"
)

// healthy is a step that holds the default level with room to spare.
func healthy(players int) measure.Step {
	return measure.Step{
		Players: players, Duration: measure.Span{Duration: 4 * time.Second},
		TickCPUMillis:     measure.Quantiles{P50: 2, P95: 3.5, P99: 4, P999: 5, Max: 6, Mean: 2.1},
		TickWallMillis:    measure.Quantiles{P50: 2, P99: 5, Max: 8, Mean: 2.2},
		SnapshotAgeMillis: measure.Quantiles{P50: 50, P99: 70, Max: 90, Mean: 50}, InputsExpected: 1000,
	}
}
