package main

import (
	"github.com/spf13/cobra"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

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
