package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/playback"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newReplayDump returns the command replay dump. It replays the crash dump of a lobby.
func newReplayDump() *cobra.Command {
	var o playback.DumpOptions
	c := &cobra.Command{
		Use:   "dump FILE",
		Short: "Replay a lobby's crash dump up to the panic",
		Long: `dump replays the crash dump of a lobby of tickrate serve and prints the panic and
its stack. A crash dump is two files with one name: fault-*.txt is a text, and
fault-*.tkr is a recording of the last 600 ticks or more, a saved state and the
inputs since. FILE is either of the two. The exit code is 1 if the match does not
panic, panics in another tick, or panics with another value.`,
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
