// The command replay: flags of a playback, which cmd/internal/playback runs.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newReplay returns the command that plays a recording again and compares it with the checksums in
// the file.
func newReplay() *cobra.Command {
	var o playback.Options
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Play a recorded match again, and check that it is the same",
		Long: `replay plays a recording of tickrate serve --record again, compares it with the
checksums in the file, and prints kills, scores and statistics of aiming: from
0, as people aim, to 1, as no hand does; nothing follows from them. It stops at
the first difference and names the tick and the field. Of a damaged file it
plays the part before the damage, and the error says where that ends. The exit
code is then 1.

With --at it plays one tick many times from the state before it, and prints what
each system of the match takes: for ticks that serve --capture has written down.
Stages of the network are not in a recording. replay dump plays what a lobby that
has panicked leaves.`,
		Args: usage.OneArg("one recording"),
		RunE: func(c *cobra.Command, args []string) error {
			return playback.Run(c.Context(), c.OutOrStdout(), args[0], o)
		},
	}
	c.AddCommand(newReplayDump())
	fl := c.Flags()
	fl.Uint32Var(&o.From, "from", 0, "first `tick` to play; 0 for the first of the file")
	fl.Uint32Var(&o.To, "to", 0, "last `tick` to play; 0 for the last of the file")
	fl.BoolVar(&o.Check, "check", false, "print only whether the match is the same")
	fl.BoolVar(&o.JSON, "json", false, "print one line of JSON instead")
	fl.Uint32Var(&o.At, "at", 0, "`tick` to play many times and time by system; 0 for none, to play all")
	fl.IntVar(&o.Times, "times", 200, "how many `times` --at plays it, 1 or more; 0 for 200")
	fl.StringVar(&o.Profile, "profile", "", "`file` for a CPU profile of that tick with --at; default none")
	fl.StringVar(&o.Map, "map", "",
		"`file` of the map, if it is neither built in nor generated: a recording has its name only; "+
			"default none")
	fl.StringVar(&o.Content, "content", "", assets.ContentUsage)
	return c
}
