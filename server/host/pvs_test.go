package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// A host computes visibility of its map: a town has walls, so auto picks the grid; an open map has
// none, and without auto nothing is computed. The result is cached in a file, and an invalid file
// is computed again.
func TestWallsOfTheMap(t *testing.T) {
	t.Parallel() // it waits
	alone(t)
	dir := t.TempDir()
	town, open := arena.Town(32, 5), arena.Generate(48, 5)
	for i, c := range []struct {
		arena *arena.Arena
		asks  server.Relevance
		walls bool
		want  server.Relevance
		says  string
	}{
		{town, server.RelevanceAuto, true, server.RelevanceGrid, "cells of 4 m, a table of "},
		// from the file
		{town, server.RelevanceGrid, true, server.RelevanceGrid, "cells of 4 m, a table of "},
		{town, server.RelevanceAll, false, server.RelevanceAll, ""},
		{town, server.RelevanceOff, false, server.RelevanceOff, ""},
		{open, server.RelevanceAuto, false, server.RelevanceAll, "too few to leave players out"},
		{open, server.RelevanceGrid, false, server.RelevanceGrid, "too few to leave players out"},
	} {
		cfg, found, err :=
			server.PVSFor(server.Config{Arena: c.arena, ArenaName: "test", Relevance: c.asks}, cachedPVS(dir))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Netcode.PrivateKey, cfg.Netcode.Entropy, cfg.Netcode.Addresses = labKey, [32]byte{1}, publicAddrs
		cfg.Netcode.AllowTokenReuse = true
		l, err := server.NewLobby(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if (cfg.PVS != nil) != c.walls || l.Config().Relevance != c.want ||
			!strings.Contains(found, c.says) || c.says == "" && found != "" {
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
		if _, _, err := server.PVSFor(server.Config{Arena: town, ArenaName: "test"},
			cachedPVS(dir)); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(again, good) {
			t.Errorf("after a bad file of %d bytes there are %d, want the %d as they were; %v",
				len(bad), len(again), len(good), err)
		}
	}
	if _, _, err := server.PVSFor(server.Config{Arena: town, ArenaName: "test"},
		cachedPVS(filepath.Join(dir, "nowhere"))); err == nil {
		t.Error("kept in a folder that does not exist")
	}
}
