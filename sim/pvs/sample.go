package pvs

import (
	"math"

	"github.com/tickrate/tickrate/sim/arena"
)

// Implementation constants of Sample and CellFor.
const (
	minShareCell = 4   // metres
	maxShareCell = 16  // metres, the most of Config
	mostCells    = 600 // whose pairs take some 3 s between houses
)

// CellFor is the edge of cells, whole metres from 4 to 16, by which a table of the arena takes
// seconds to build, not minutes: the smallest with at most 600 cells.
func CellFor(a *arena.Arena) float32 {
	size := a.Bounds.Max.Sub(a.Bounds.Min)
	for cell := minShareCell; cell < maxShareCell; cell++ {
		side := func(v float32) int { return int(math.Ceil(float64(v) / float64(cell))) }
		if side(size.X)*side(size.Z) <= mostCells {
			return float32(cell)
		}
	}
	return maxShareCell
}

// Sample estimates Table.Hidden from pairs random pairs of cells, in a small part of the time of
// Build, to tell whether building is worth it. Equal arguments give equal numbers; the errors are
// those of Build.
func Sample(a *arena.Arena, c Config, pairs int) (hidden float64, err error) {
	b, err := newBuilder(a, c)
	if err != nil {
		return 0, err
	}
	return float64(b.countHidden(pairs)) / float64(max(pairs, 1)), nil
}

// countHidden is how many of some pairs of cells do not see each other.
func (b *builder) countHidden(pairs int) (count int) {
	var live []int
	for cell := range b.c.cells() {
		if !b.unreachable(cell) {
			live = append(live, cell)
		}
	}
	if len(live) < 2 {
		return 0
	}
	at := uint64(1)
	draw := func(n int) int { // Knuth's MMIX generator, its high bits
		at = at*6364136223846793005 + 1442695040888963407
		return int(at>>33) % n
	}
	for range pairs {
		i := draw(len(live))
		j := (i + 1 + draw(len(live)-1)) % len(live)
		if !b.sampleLines(live[i], live[j]) && !b.computeVisible(live[i], live[j]) {
			count++
		}
	}
	return count
}

// unreachable reports whether no player can be on the lowest level of a cell: no ground of it is
// low enough, or it is out of bounds.
func (b *builder) unreachable(cell int) bool {
	r, bounds := b.c.cellArea(cell), &b.ground.a.Bounds
	if r.x1 > bounds.Min.X && r.z1 > bounds.Min.Z && r.x0 < bounds.Max.X && r.z0 < bounds.Max.Z {
		return b.t.floor[cell] > b.feetHeight(cell)
	}
	return b.nodeParts(cell)[0].empty()
}

// Hidden is the share of pairs of different cells that do not see each other, for players on the
// ground. Cells that see no other, such as those inside houses, do not count.
func (t *Table) Hidden() float64 {
	live := make([]bool, t.Cells())
	cells, seen := 0, 0
	for x := range live {
		others := 0
		for y := range live {
			if x != y && t.get(x, y) {
				others++
			}
		}
		if live[x] = others > 0; live[x] {
			cells++
			seen += others
		}
	}
	if cells < 2 {
		return 0
	}
	return 1 - float64(seen)/float64(cells*(cells-1))
}
