package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
)

// newInspectMemory returns the command that prints the memory of a lobby by owner.
func newInspectMemory() *cobra.Command {
	var o inspect.MemoryOptions
	c := &cobra.Command{
		Use:   "memory",
		Short: "Print the memory of a lobby by owner, and what lobbies share",
		Long: `memory plays a lobby in virtual time and prints the bytes that it keeps, by
owner: what a host needs for each lobby of this size, and what all lobbies with
one map, content and codec share. The default is a duel of ten players at 128 Hz
with 64 snapshots a second.

  tickrate inspect memory --players 64 --rate 60 --send-interval 3`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return inspect.Memory(c.Context(), c.OutOrStdout(), o)
		},
	}
	fl, p := c.Flags(), &o.Preview
	fl.IntVar(&p.Players, "players", 10, fmt.Sprintf("`number` of players, 1 to %d", preview.MaxPlayers))
	fl.IntVar(&p.Rate, "rate", 128,
		fmt.Sprintf("simulation rate in `Hz`, %d to %d", tick.MinRate, tick.MaxRate))
	fl.IntVar(&o.SendInterval, "send-interval", 2,
		"`ticks` between two snapshots to one client, 1 to 20; 0 for the interval nearest to 20 Hz")
	fl.StringVar(&p.Map, "map", "arena-16", assets.MapUsage)
	fl.StringVar(&p.Mode, "mode", "deathmatch", "`mode` of the match")
	fl.StringVar(&p.Content, "content", "", assets.ContentUsage)
	fl.IntVar(&p.ShotLogSize, "shot-log", -1,
		"`shots` of which the lobby keeps a record; 0 for none, -1 for 64 a player, at most 4096")
	fl.DurationVar(&p.Duration, "duration", 5*time.Second, "`length` of the match, 1s to 10h")
	fl.Uint64Var(&p.Seed, "seed", 1, "`seed` of the match, the players and the links")
	return c
}
