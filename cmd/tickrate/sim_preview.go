// The command sim preview: flags of a preview, which cmd/internal/preview runs.

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/ecs/tick"
)

// newPreview returns the command that plays a match in one process and compares the world of each
// client with the server's.
func newPreview() *cobra.Command {
	var o preview.Options
	c := &cobra.Command{
		Use:   "preview",
		Short: "Play a match with its server and all its clients in this process, and compare their worlds",
		Long: `preview runs a lobby and its players in one process, in virtual time, over links
in memory: no socket, no key, and the same match for the same flags. It prints
the messages of the first player, the score board, and a comparison of every
client's snapshots with the server's state by hash. The exit code is 1 if any
differs.

  tickrate sim preview --players 16 --mode assault --map town:16:7 --duration 2m
  tickrate sim preview --real-time --delay 40ms --loss 0.02`,
		Args: assets.MoreTraces(&o.Traces),
		RunE: func(c *cobra.Command, _ []string) error {
			return preview.Run(c.Context(), c.OutOrStdout(), o)
		},
	}
	fl := c.Flags()
	fl.IntVar(&o.Players, "players", 8, fmt.Sprintf("`number` of players, 1 to %d", preview.MaxPlayers))
	fl.StringVar(&o.Map, "map", "arena-16", assets.MapUsage)
	fl.StringVar(&o.Mode, "mode", "deathmatch", assets.ModeUsage)
	fl.StringVar(&o.Content, "content", "", assets.ContentUsage)
	fl.DurationVar(&o.Duration, "duration", time.Minute, "`length` of the match, 1s to 10h")
	fl.IntVar(&o.Rate, "rate", int(tick.DefaultRate), "simulation rate in `Hz`, 20 to 144")
	fl.DurationVar(&o.Delay, "delay", 0, "one-way `delay` of each link, 0 to 1s")
	fl.Float64Var(&o.Loss, "loss", 0, "`share` of datagrams lost on each link, 0 to 0.5")
	fl.BoolVar(&o.RealTime, "real-time", false,
		"play at the speed of the clock instead of as fast as possible")
	assets.BotFlags(c, &o.Seed, &o.Traces)
	return c
}
