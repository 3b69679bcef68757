package pvs

import (
	"math"
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
)

// A sample is near the share that the table hides, and repeats exactly; a town hides much, an open
// map nothing.
func TestSample(t *testing.T) {
	for _, row := range []struct {
		arena *arena.Arena
		least float64
		most  float64
	}{
		{openArena(t, "arena-16"), 0, 0.02},
		{openArena(t, "arena-64"), 0, 0.02},
		{openArena(t, "gen:100:3"), 0, 0.02},
		{arena.Town(64, 1), 0.35, 0.7},
		{arena.Town(150, 2), 0.5, 0.85},
		{rooms(4, 2), 0.2, 0.8},
	} {
		c := Fit(row.arena, max(CellFor(row.arena), 5))
		hidden, err := Sample(row.arena, c, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Sample(row.arena, c, 1000); again != hidden {
			t.Errorf("%s: %v, then %v", row.arena.Name, hidden, again)
		}
		table, err := Build(row.arena, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, %v m: sample %.3f, table %.3f", row.arena.Name, c.Cell, hidden, table.Hidden())
		if math.Abs(table.Hidden()-hidden) > 0.06 || hidden < row.least || hidden > row.most {
			t.Errorf("%s: a sample of %v, the table hides %v, want %v to %v", row.arena.Name, hidden,
				table.Hidden(), row.least, row.most)
		}
	}
	if _, err := Sample(arena.Town(16, 1), Config{}, 10); err == nil {
		t.Error("a sample of no grid")
	}
}

func TestCellFor(t *testing.T) {
	for name, want := range map[string]float32{"arena-16": 4, "arena-64": 4, "town:64:1": 4,
		"town:500:1": 8, "gen:8192:1": 16} {
		a := openArena(t, name)
		c := Fit(a, CellFor(a))
		if c.Cell != want || c.Cell < maxShareCell && c.cells() > mostCells {
			t.Errorf("%s: %d cells of %v m, want %v m", name, c.cells(), c.Cell, want)
		}
	}
}
