package pvs

import (
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
)

func BenchmarkBuild(b *testing.B) {
	for _, row := range []struct {
		name  string
		arena *arena.Arena
		cell  float32
	}{
		{"arena-64/4m", openArena(b, "arena-64"), 4},
		{"town:64:11/8m", arena.Town(64, 11), 8},
	} {
		b.Run(row.name, func(b *testing.B) {
			c := Fit(row.arena, row.cell)
			for range b.N {
				if _, err := Build(row.arena, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVisible(b *testing.B) {
	a := town(32, 1)
	c := Fit(a, 4)
	c.Effort = 1
	t, err := Build(a, c)
	if err != nil {
		b.Fatal(err)
	}
	occupancy := NewOccupancy(t)
	n := t.Cells()
	for _, q := range []struct {
		name    string
		visible func(from, to int) bool
	}{{"table", t.Visible}, {"occupancy", occupancy.Visible}} {
		b.Run(q.name, func(b *testing.B) {
			seen, at := 0, uint32(1)
			for range b.N {
				at = at*1664525 + 1013904223
				if q.visible(int(at>>8)%n, int(at>>16)%n) {
					seen++
				}
			}
			b.ReportMetric(float64(seen)/float64(b.N), "seen/op")
		})
	}
}
