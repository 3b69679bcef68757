// The command sim and its subcommands in sim_*.go: lobbies in virtual time, without sockets.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newSim returns the command sim, which holds the simulators in virtual time.
func newSim() *cobra.Command {
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run lobbies in virtual time: with their players, or with attackers and faults",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPreview(), newDST())
	return c
}
