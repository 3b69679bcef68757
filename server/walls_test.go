package server

import (
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/pvs"
)

// A potentially visible set is used for its own arena and grid only.
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
		{Config{Arena: a, PVS: walls, CellSize: 4}, "PVS of 7 by 7 cells of 5 m: expected 9 by 9 of 4 m"},
		{Config{Arena: arena.Town(16, 6), PVS: walls}, "PVS of another arena: expected that of Config.Arena"},
		{Config{Arena: a, PVS: walls, CellVisible: walls.Visible},
			"both PVS and CellVisible: expected one of them"},
	} {
		c.cfg.ArenaName = "test"
		cfg, err := c.cfg.withDefaults()
		if c.want == "" && (err != nil || cfg.Relevance != RelevanceGrid || cfg.CellSize != 5) ||
			c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d: %v, cells of %v m, %v, want %q", i, cfg.Relevance, cfg.CellSize, err, c.want)
		}
	}
}
