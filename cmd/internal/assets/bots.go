package assets

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/bench/trace"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// BotSource makes the bots of a command, one for each player.
type BotSource struct {
	Name  string                  // for reports
	Brain func(n int) swarm.Brain // the brain of player n
}

// BotFlags adds the flags that choose the bots: --seed and --trace.
func BotFlags(c *cobra.Command, seed *uint64, traces *[]string) {
	c.Flags().Uint64Var(seed, "seed", 1, "`seed` of the match, the players and the links")
	c.Flags().StringArrayVar(traces, "trace", nil,
		"recorded play to follow, one .csv or .csv.gz `file` or more; default none")
}

// MoreTraces takes the arguments after the flags as further files of --trace, as a shell's wildcard
// gives them. It refuses arguments without that flag.
func MoreTraces(traces *[]string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(*traces) == 0 {
			return usage.NoArgs(c, args)
		}
		*traces = append(*traces, args...)
		return nil
	}
}

// Bots returns bots that follow the recordings at paths, or seeded bots if there are none. With
// more players than tracks, copies are shifted in time and turned.
func Bots(paths []string, seed uint64) (BotSource, error) {
	if len(paths) == 0 {
		return BotSource{
			Name:  fmt.Sprintf("seeded bots (seed %d)", seed),
			Brain: func(n int) swarm.Brain { return swarm.NewBot(seed, n) },
		}, nil
	}
	var all []*trace.Trace
	for _, path := range paths {
		t, err := trace.Open(path)
		if err != nil {
			return BotSource{}, usage.Error(err)
		}
		all = append(all, t)
	}
	joined := trace.Join(all...)
	return BotSource{
		Name: fmt.Sprintf("recorded play: %s (%d tracks; copies shifted in time and turned, seed %d)",
			joined.Name, len(joined.Tracks), seed),
		Brain: func(n int) swarm.Brain { return swarm.NewTraceBot(joined, seed, n) },
	}, nil
}
