package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newReplayDump returns the command that plays the dump of a lobby that has panicked.
func newReplayDump() *cobra.Command {
	var o playback.DumpOptions
	c := &cobra.Command{
		Use:   "dump FILE",
		Short: "Play the dump of a lobby that has panicked, up to the same panic",
		Long: `dump plays what a lobby of tickrate serve that has panicked has written down: a
saved state, and the inputs of the last 600 ticks or more. It prints the panic and
its stack. FILE is the dump's text, fault-*.txt, or the recording beside it,
fault-*.tkr. The exit code is 1 if the match does not panic, in another tick, or
with another value.`,
		Args: usage.OneArg("one dump"),
		RunE: func(c *cobra.Command, args []string) error {
			return playback.RunDump(c.Context(), c.OutOrStdout(), args[0], o)
		},
	}
	fl := c.Flags()
	fl.IntVar(&o.Inputs, "inputs", 0,
		"also print the players' commands of the last `n` ticks; 0 prints none")
	fl.BoolVar(&o.JSON, "json", false, "print one line of JSON instead")
	fl.StringVar(&o.Map, "map", "",
		"`file` of the map, if it is neither built in nor generated; default none")
	fl.StringVar(&o.Content, "content", "", assets.ContentUsage)
	return c
}
