package pvs

import (
	"math/rand/v2"
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
)

// tightness draws pairs of cells on the lowest level, or on the highest, and counts how many the
// table hides, and in how many of the others a number of random lines finds none that is free.
// These are more than the truth: a narrow line is seldom drawn.
func tightness(t *Table, a *arena.Arena, level, pairs, lines int) (hides, misses int) {
	o := oracle{r: rand.New(rand.NewPCG(11, 11)), a: a, t: t, top: newGround(a, &t.c).top}
	for range pairs {
		from, to := o.r.IntN(t.Cells()), o.r.IntN(t.Cells())
		if !t.VisibleAt(from, level, to, level) {
			hides++
			continue
		}
		seen := from == to
		for i := 0; i < lines && !seen; i++ {
			seen = o.sees(from, level, to, level) || o.sees(to, level, from, level)
		}
		if !seen {
			misses++
		}
	}
	return hides, misses
}

// TestTightness requires that the table hides most of what can be hidden where houses hide much;
// elsewhere the share is logged.
func TestTightness(t *testing.T) {
	for _, row := range []struct {
		arena *arena.Arena
		cell  float32
		least float64 // of what the oracle hides
	}{
		{openArena(t, "arena-64"), 4, 0},
		{openArena(t, "arena-256"), 4, 0},
		{town(48, 1), 4, 0.8},
		{town(48, 1), 8, 0.6},
		{arena.Town(64, 11), 4, 0.6},
		{rooms(5, 1), 4, 0.4},
	} {
		table, err := Build(row.arena, Fit(row.arena, row.cell))
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []int{0, table.Levels() - 1} {
			hides, misses := tightness(table, row.arena, level, 500, 100)
			ratio := float64(hides) / max(float64(hides+misses), 1)
			t.Logf("%-10s %v m, level %d: of 500 pairs hides %d, the oracle %d more: %.2f", row.arena.Name,
				row.cell, level, hides, misses, ratio)
			if level == 0 && ratio < row.least {
				t.Errorf("%s, cells of %v m: hides %.2f of what the oracle does, want %v", row.arena.Name,
					row.cell, ratio, row.least)
			}
		}
	}
}
