package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// A host looks round on its map: houses part the town, so auto is a grid; in the open nothing comes of it, and nothing is looked at
// where nobody asks. What it found is kept in a file, and a file that is no good is made anew.
func TestWallsOfTheMap(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	town, open := arena.Town(brief(48, 32), 5), arena.Generate(48, 5)
	for i, c := range []struct {
		arena *arena.Arena
		asks  Relevance
		walls bool
		want  Relevance
		says  string
	}{
		{town, RelevanceAuto, true, RelevanceGrid, "cells of 4 m, a table of "},
		{town, RelevanceGrid, true, RelevanceGrid, "cells of 4 m, a table of "}, // from the file
		{town, RelevanceAll, false, RelevanceAll, ""},
		{town, RelevanceOff, false, RelevanceOff, ""},
		{open, RelevanceAuto, false, RelevanceAll, "too few for players to be left out"},
		{open, RelevanceGrid, false, RelevanceGrid, "too few for players to be left out"},
	} {
		cfg, found, err := withWalls(Config{Arena: c.arena, ArenaName: "test", Relevance: c.asks}, dir)
		if err != nil {
			t.Fatal(err)
		}
		if cfg, err = cfg.withDefaults(); err != nil {
			t.Fatal(err)
		}
		if (cfg.PVS != nil) != c.walls || cfg.Relevance != c.want || !strings.Contains(found, c.says) || c.says == "" && found != "" {
			t.Errorf("%d: walls %v, %v, %q", i, cfg.PVS, cfg.Relevance, found)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: want one file", files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	other, err := pvs.Build(town, func() pvs.Config { c := pvs.Fit(town, 4); c.Effort = 1; return c }())
	if err != nil {
		t.Fatal(err)
	}
	stale, _ := other.AppendBinary(nil)
	for _, bad := range [][]byte{good[:100], stale} {
		if err := os.WriteFile(files[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := withWalls(Config{Arena: town, ArenaName: "test"}, dir); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(again, good) {
			t.Errorf("after a bad file of %d bytes there are %d, want the %d as they were; %v", len(bad), len(again), len(good), err)
		}
	}
	if _, _, err := withWalls(Config{Arena: town, ArenaName: "test"}, filepath.Join(dir, "nowhere")); err == nil {
		t.Error("kept in a folder that does not exist")
	}
}

// TestWallsFit are taken for the arena and the grid that they are of, and for no other.
func TestWallsFit(t *testing.T) {
	a := arena.Town(16, 5)
	walls, err := pvs.Build(a, pvs.Fit(a, 5))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Arena: a, PVS: walls}, ""},
		{Config{Arena: a, PVS: walls, CellSize: 5}, ""},
		{Config{Arena: a, PVS: walls, CellSize: 4}, "walls for 7 by 7 cells of 5 m: expected 9 by 9 of 4 m"},
		{Config{Arena: arena.Town(16, 6), PVS: walls}, "the walls of another arena"},
		{Config{Arena: a, PVS: walls, CellVisible: walls.Visible}, "both walls and a sight of its own: expected one of them"},
	} {
		c.cfg.ArenaName = "test"
		cfg, err := c.cfg.withDefaults()
		if c.want == "" && (err != nil || cfg.Relevance != RelevanceGrid || cfg.CellSize != 5) || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d: %v, cells of %v m, %v, want %q", i, cfg.Relevance, cfg.CellSize, err, c.want)
		}
	}
}
