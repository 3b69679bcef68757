package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tickrate/tickrate/sim/pvs"
)

// Implementation constants of the walls.
const (
	WallSample = 500 // pairs of cells, looked at before a table is built
	LeastWalls = 0.1 // share of them that must be hidden for RelevanceAuto: rows cost more than shared blocks
)

// WithWalls gives a lobby the table of what its arena's walls hide, where a host would: for lobbies that are played without one.
func WithWalls(c Config) (Config, error) {
	with, _, err := withWalls(c, "")
	return with, err
}

// withWalls gives a lobby that may hide somebody the table of what its arena's walls hide, unless that is next to nothing: then
// a map in the open pays some tens of milliseconds. It says what it found, "" if it did not look. A table is kept in dir, if that is
// not "", and taken from there the next time.
func withWalls(c Config, dir string) (with Config, found string, err error) {
	if c.Arena == nil || c.PVS != nil || c.CellVisible != nil || c.Relevance != RelevanceAuto && c.Relevance != RelevanceGrid {
		return c, "", nil
	}
	start := time.Now()
	cell := c.CellSize
	if cell == 0 {
		cell = pvs.CellFor(c.Arena)
	}
	grid := pvs.Fit(c.Arena, cell)
	share, err := pvs.Sample(c.Arena, grid, WallSample)
	if err != nil {
		return c, "", fmt.Errorf("walls of %s: %w", c.ArenaName, err)
	}
	if share == 0 || c.Relevance == RelevanceAuto && share < LeastWalls {
		return c, fmt.Sprintf("walls hide %.0f %% of %d pairs of places from each other: too few for players to be left out of snapshots", 100*share, WallSample), nil
	}
	c.PVS, err = keptWalls(c, grid, dir)
	if err != nil {
		return c, "", fmt.Errorf("walls of %s: %w", c.ArenaName, err)
	}
	w := c.PVS.Config()
	return c, fmt.Sprintf("walls hide %.0f %% of pairs of places from each other: %d by %d cells of %g m, a table of %d KiB, ready in %.2f s",
		100*c.PVS.Hidden(), w.Wide, w.Deep, w.Cell, c.PVS.Bytes()/1024, time.Since(start).Seconds()), nil
}

// keptWalls is the table of a grid out of a file in dir, or a new one, which is written there. What is in the file and is no table
// of this arena and this grid is written over.
func keptWalls(c Config, grid pvs.Config, dir string) (*pvs.Table, error) {
	if dir == "" {
		return pvs.Build(c.Arena, grid)
	}
	hash := c.Arena.Hash()
	file := filepath.Join(dir, fmt.Sprintf("%x-%gm.sight", hash[:8], grid.Cell))
	data, err := os.ReadFile(file)
	if err == nil {
		if t, err := pvs.Load(data, hash, 0); err == nil && t.Fits(grid) {
			return t, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t, err := pvs.Build(c.Arena, grid)
	if err != nil {
		return nil, err
	}
	if data, err = t.AppendBinary(nil); err != nil {
		return nil, err
	}
	part := fmt.Sprintf("%s.%d", file, os.Getpid()) // nobody reads half a file
	if err = os.WriteFile(part, data, 0o644); err == nil {
		err = os.Rename(part, file)
	}
	return t, err
}
