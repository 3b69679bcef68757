package server

import (
	"fmt"

	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// Bounds of PVSFor.
const (
	pvsSamples = 500 // pairs of cells that are tested before a table is built
	// share of hidden pairs from which RelevanceAuto uses a table: rows cost more than shared
	// blocks
	minPVSHidden = 0.1
)

// BuildPVS makes the table of a grid over an arena, or loads one that was made before.
type BuildPVS func(a *arena.Arena, grid pvs.Config) (*pvs.Table, error)

// PVSFor gives a configuration the potentially visible sets of its map where that can hide a
// player: with RelevanceAuto or RelevanceGrid, and unless the configuration has PVS or CellVisible.
// build nil is pvs.Build. found says in one sentence what was decided, "" without a decision.
func PVSFor(c Config, build BuildPVS) (with Config, found string, err error) {
	if c.Arena == nil || c.PVS != nil || c.CellVisible != nil || c.Relevance != RelevanceAuto &&
		c.Relevance != RelevanceGrid {
		return c, "", nil
	}
	cell := c.CellSize
	if cell == 0 {
		cell = pvs.CellFor(c.Arena)
	}
	grid := pvs.Fit(c.Arena, cell)
	hidden, err := pvs.Sample(c.Arena, grid, pvsSamples)
	if err != nil {
		return c, "", fmt.Errorf("visible sets of map %s: %w", c.ArenaName, err)
	}
	if hidden == 0 || c.Relevance == RelevanceAuto && hidden < minPVSHidden {
		return c, fmt.Sprintf("walls hide %.0f %% of %d pairs of cells: too few to leave players out of "+
			"snapshots", 100*hidden, pvsSamples), nil
	}
	if build == nil {
		build = pvs.Build
	}
	if c.PVS, err = build(c.Arena, grid); err != nil {
		return c, "", fmt.Errorf("visible sets of map %s: %w", c.ArenaName, err)
	}
	w := c.PVS.Config()
	return c, fmt.Sprintf("walls hide %.0f %% of pairs of cells: %d by %d cells of %g m, a table of %d KiB",
		100*c.PVS.Hidden(), w.Wide, w.Deep, w.Cell, c.PVS.Bytes()/1024), nil
}
