package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
)

// newInspectWorld returns the command that prints kinds, columns, counts and bytes.
func newInspectWorld() *cobra.Command {
	o := inspect.WorldOptions{Preview: preview.Options{Rate: int(tick.DefaultRate)}}
	c := &cobra.Command{
		Use:   "world [URL | FILE | preview]",
		Short: "Print the kinds of entities of a match, or one entity: components, and clients that see it",
		Long: `world prints what a match holds: each kind of entity with its columns, how many
rows it has of how many it may have, and their bytes; and the components that
come and go on living entities. Without an argument it plays a match in virtual
time; of a recording it plays the ticks up to --tick. Of a running server it
lists the entities. --entity describes one: its components field by field, and
for each client whether it is sent the entity, or why not.

  tickrate inspect world --map arena-16 --players 16 --duration 10s
  tickrate inspect world match.tkr --tick 3600
  tickrate inspect world http://127.0.0.1:7914 --entity "bot 3"`,
		Args: usage.AtMostOneArg("sources"),
		RunE: func(c *cobra.Command, args []string) error {
			source := "preview"
			if len(args) > 0 {
				source = args[0]
			}
			return inspect.World(c.Context(), c.OutOrStdout(), source, o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Entity, "entity", "",
		"describe this entity, by net `id` (3.1), of a server also by name or slot:N; default none")
	fl.StringVar(&o.Secret, "http-token", "",
		"`secret` of a server's HTTP port, if it has one; also "+serverapi.TokenVariable)
	fl.Uint32Var(&o.Tick, "tick", 0, "of a recording: `tick` to show; 0 for its last")
	fl.StringVar(&o.Map, "map-file", "",
		"of a recording: `file` of its map, if it is neither built in nor generated; default none")
	fl.StringVar(&o.Preview.Content, "content", "", assets.ContentUsage)
	fl.StringVar(&o.Preview.Map, "map", "arena-16", "of preview: "+assets.MapUsage)
	fl.StringVar(&o.Preview.Mode, "mode", "deathmatch", "of preview: `mode` of the match")
	fl.IntVar(&o.Preview.Players, "players", 8,
		fmt.Sprintf("of preview: `number` of players, 1 to %d", preview.MaxPlayers))
	fl.DurationVar(&o.Preview.Duration, "duration", 10*time.Second,
		"of preview: `length` of the match, 1s to 10h")
	fl.Uint64Var(&o.Preview.Seed, "seed", 1, "of preview: `seed` of the match, the players and the links")
	return c
}
