// The command map, and its subcommand generate. The generators are in sim/arena.

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/sim/arena"
)

// newMap returns the command map. Its subcommand generate makes the same map for the same players
// and seed; check and draw open a map of any kind.
func newMap() *cobra.Command {
	c := &cobra.Command{
		Use:   "map",
		Short: "Generate, check and draw maps",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var players int
	var seed uint64
	var out string
	var town bool
	gen := &cobra.Command{
		Use:   "generate",
		Short: "Generate a map for a number of players",
		Args:  usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" || players < 1 || players > 4096 {
				return usage.Errorf("a map for %d players into file %q: expected 1 to 4096 "+
					"players and --out", players, out)
			}
			a := arena.Generate(players, seed)
			if town {
				a = arena.Town(players, seed)
			}
			return save(c, a, out)
		},
	}
	gen.Flags().IntVar(&players, "players", 64,
		"`players` the map is sized for, 1 to 4096: about 40 m² of free ground each")
	gen.Flags().Uint64Var(&seed, "seed", 1, "`seed` of the map")
	gen.Flags().BoolVar(&town, "town", false,
		"a town, whose houses hide who is behind them, in place of low walls and crates")
	gen.Flags().StringVar(&out, "out", "", "`file` to write (required)")
	c.AddCommand(gen, newMapCheck(), newMapDraw())
	return c
}

// save writes a to the file out and prints its description.
func save(c *cobra.Command, a *arena.Arena, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("write the map: %w", err)
	}
	if err := a.Save(f); err != nil {
		_ = f.Close() // the error of Save is the cause
		return fmt.Errorf("write the map: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the map: %w", err)
	}
	describe(c, out, a)
	return nil
}

// describe prints the size in metres, the numbers of solids, movers and spawn points, and the hash of a.
func describe(c *cobra.Command, name string, a *arena.Arena) {
	size, movers := a.Bounds.Max.Sub(a.Bounds.Min), ""
	if a.Moves() {
		movers = fmt.Sprintf("%d movers, ", len(a.Movers))
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %g x %g m, %d solids, %s%d spawn points, hash %x\n",
		name, size.X, size.Z, len(a.Solids), movers, len(a.Spawns), a.Hash())
}
