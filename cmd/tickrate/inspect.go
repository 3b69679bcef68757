// The command inspect and its subcommands in inspect_*.go, which only read flags: the tools are in
// cmd/internal/inspect.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/inspect"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim"
)

// newInspect returns the command inspect, which holds the tools that explain a running server, a
// recording or a simulated match. systems needs none of them: it reads a table of this build.
func newInspect() *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Show kinds, systems, memory, how shots were judged, what a server sends and why",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "systems",
		Short: "List the systems of a tick in their order, what each reads and writes, and conflicts",
		Args:  usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return inspect.Systems(c.OutOrStdout(), sim.Systems())
		},
	}, newInspectWorld(), newInspectMemory(), newInspectShots(), newInspectClocks(), newInspectBits(),
		newInspectWhy(), newInspectPrediction())
	return c
}
