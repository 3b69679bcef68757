// The command inspect clocks: a drawing of a client's clocks while the round-trip time changes.

package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newInspectClocks returns the command that draws the three clocks of a client in a simulated
// lobby: predicted, server and render.
func newInspectClocks() *cobra.Command {
	var o inspect.ClocksOptions
	c := &cobra.Command{
		Use:   "clocks",
		Short: "Simulate a step of the round-trip time, and draw a client's three clocks",
		Long: `clocks plays a lobby in virtual time. The path to one client becomes longer
after a third of the time and short again after two thirds. The drawing is an
SVG of that client's clocks against the server's: predicted (its commands),
server (its estimate) and render (its view).

  tickrate inspect clocks --from 50ms --to 150ms -o clocks.svg`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return inspect.Clocks(c.OutOrStdout(), o) },
	}
	fl := c.Flags()
	fl.DurationVar(&o.From, "from", 50*time.Millisecond, "round trip before and after, as `10ms`, up to 1s")
	fl.DurationVar(&o.To, "to", 150*time.Millisecond, "round trip in the middle, as `10ms`, up to 1s")
	fl.DurationVar(&o.Jitter, "jitter", 4*time.Millisecond,
		"largest extra delay of a datagram, each way, as `4ms`")
	fl.DurationVar(&o.Duration, "duration", 18*time.Second, "virtual `time` to play, 6s to 10m")
	fl.Uint64Var(&o.Seed, "seed", 1, "`seed` of the lobby")
	fl.StringVarP(&o.Out, "out", "o", "clocks.svg", "`file` to write, - for the terminal")
	return c
}
