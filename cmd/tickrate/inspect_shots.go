// The command inspect shots prints shot records of a server, a recording or a simulated match.

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/preview"
	"github.com/tickrate/tickrate/cmd/internal/serverapi"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/lagcomp"
)

// newInspectShots returns the command that prints shot records and, with --svg, draws the last of them.
func newInspectShots() *cobra.Command {
	o := inspect.ShotOptions{Preview: preview.Options{Mode: "deathmatch", Rate: int(tick.DefaultRate)}}
	c := &cobra.Command{
		Use:   "shots [HOST:PORT | URL | FILE | preview]",
		Short: "Print shot records: the claimed view, the accepted view, hit or miss and by how much",
		Long: `shots reads shot records from a running server (serve --shot-log), from a
recording, which it plays again, or from a simulated match (preview). Without
an argument it asks the server at 127.0.0.1:7914. The claimed view is the
moment that the client says it showed; the server clamps it to what is
possible, the accepted view. --svg draws the target at three places: where
the shooter's client showed it, where the server judged it, and where it was
when the server judged the shot.

  tickrate inspect shots --verdict miss --last 20
  tickrate inspect shots http://203.0.113.5:7914 --http-token SECRET --clamp any
  tickrate inspect shots match.tkr --shooter 3.1 --from 600 --to 1200
  tickrate inspect shots preview --delay 60ms --verdict hit --last 1 --svg shot.svg`,
		Args: usage.AtMostOneArg("sources"),
		RunE: func(c *cobra.Command, args []string) error {
			source := "http://127.0.0.1:7914"
			if len(args) > 0 {
				source = args[0]
			}
			return inspect.Shots(c.Context(), c.OutOrStdout(), source, o)
		},
	}
	registerShotFlags(c, &o)
	return c
}

// registerShotFlags adds the flags of inspect shots to c.
func registerShotFlags(c *cobra.Command, o *inspect.ShotOptions) {
	// Filters of records.
	fl := c.Flags()
	fl.StringVar(&o.Shooter, "shooter", "", "only shots of this player, by net `id` (3.1)")
	fl.StringVar(&o.Victim, "victim", "",
		"only shots that hit this player, or missed and came closest to it, by net `id`")
	fl.StringArrayVar(&o.Verdicts, "verdict", nil,
		"only shots with this `verdict`: "+strings.Join(lagcomp.VerdictNames(), ", ")+"; may be repeated")
	fl.StringArrayVar(&o.Clamps, "clamp", nil,
		"only shots whose view was clamped for this `reason`: any, "+strings.Join(lagcomp.ClampNames(), ", ")+
			"; may be repeated")
	fl.Uint32Var(&o.From, "from", 0, "only shots of this `tick` and later; 0 for no limit")
	fl.Uint32Var(&o.To, "to", 0, "only shots of this `tick` and before; 0 for no limit")
	fl.Uint64Var(&o.Number, "number", 0, "only the shot with this `number`; 0 for all")
	fl.IntVar(&o.Last, "last", 50, "only the last `n` shots; 0 for all")
	// Output.
	fl.BoolVar(&o.JSON, "json", false, "print a line of JSON for each shot, with every field")
	fl.StringVar(&o.SVG, "svg", "", "draw the last of the shots into this `file`; default none")
	// Sources: a server, a recording, a simulated match.
	fl.StringVar(&o.Secret, "http-token", "",
		"`secret` of the server's HTTP port, if it has one; also "+serverapi.TokenVariable)
	fl.StringVar(&o.Map, "map-file", "",
		"of a recording: `file` of its map, if it is neither built in nor generated; default none")
	fl.StringVar(&o.Preview.Content, "content", "", assets.ContentUsage)
	fl.StringVar(&o.Preview.Map, "map", "arena-16", "of preview: "+assets.MapUsage)
	fl.IntVar(&o.Preview.Players, "players", 8,
		fmt.Sprintf("of preview: `number` of players, 1 to %d", preview.MaxPlayers))
	fl.DurationVar(&o.Preview.Duration, "duration", 30*time.Second,
		"of preview: `length` of the match, 1s to 10h")
	fl.DurationVar(&o.Preview.Delay, "delay", 40*time.Millisecond,
		"of preview: one-way `delay` of each link, 0 to 1s")
	fl.Float64Var(&o.Preview.Loss, "loss", 0, "of preview: `share` of datagrams lost on each link, 0 to 0.5")
	fl.Uint64Var(&o.Preview.Seed, "seed", 1, "of preview: `seed` of the match, the players and the links")
}
