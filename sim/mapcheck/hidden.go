package mapcheck

import "github.com/tickrate/tickrate/sim/pvs"

// Hidden returns the share, 0 to 1, of the ordered pairs of reached places that cannot see each
// other, by a table of the same arena: with players standing on the ground, and at any height above
// it. A place and itself are a pair. Both are 0 without a reached place.
func (r *Report) Hidden(t *pvs.Table) (standing, anyHeight float64) {
	type node struct{ cell, level int }
	count := make(map[node]int)
	for _, p := range r.places {
		cell := t.Cell(p.X, p.Z)
		count[node{cell, t.Level(cell, p.Y)}]++
	}
	pairs, low, all := 0, 0, 0
	for a, n := range count {
		for b, m := range count {
			pairs += n * m
			if !t.VisibleAt(a.cell, a.level, b.cell, b.level) {
				low += n * m
			}
			if !t.Visible(a.cell, b.cell) {
				all += n * m
			}
		}
	}
	if pairs == 0 {
		return 0, 0
	}
	return float64(low) / float64(pairs), float64(all) / float64(pairs)
}
