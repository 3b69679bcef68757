package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/bench/trace"
)

// movement is where the players' movement comes from.
type movement struct {
	name  string // for reports
	brain func(n int) swarm.Brain
}

// playFlags are the flags of a command that plays a lobby in virtual time, by which it is the same again.
func playFlags(c *cobra.Command, seed *uint64, traces *[]string) {
	c.Flags().Uint64Var(seed, "seed", 1, "`seed` of the match, the players and the links")
	c.Flags().StringArrayVar(traces, "trace", nil, "recorded play to follow, one .csv or .csv.gz `file` or more; default none")
}

// openMovement reads recordings, or takes the generator if there are none.
func openMovement(paths []string, seed uint64) (movement, error) {
	if len(paths) == 0 {
		return movement{
			name:  fmt.Sprintf("the seeded generator of plausible play (seed %d)", seed),
			brain: func(n int) swarm.Brain { return swarm.NewBot(seed, n) },
		}, nil
	}
	var all []*trace.Trace
	for _, path := range paths {
		t, err := trace.Open(path)
		if err != nil {
			return movement{}, badUse(err)
		}
		all = append(all, t)
	}
	joined := trace.Join(all...)
	return movement{
		name:  fmt.Sprintf("recorded human play: %s (%d tracks; copies shifted in time and turned, seed %d)", joined.Name, len(joined.Tracks), seed),
		brain: func(n int) swarm.Brain { return swarm.NewTraceBot(joined, seed, n) },
	}, nil
}
