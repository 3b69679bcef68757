// The command fleet: services that hosts on several machines share.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newFleet returns the command with the services of a fleet.
func newFleet() *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Services of a fleet: many hosts that players are spread over",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDirector(), newAutoscale(), newFleetSimulate())
	return c
}
