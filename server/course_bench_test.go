package server

import (
	"fmt"
	"testing"

	"github.com/tickrate/tickrate/sim/arena"
)

// BenchmarkChange is what the tick pays in which the map changes, for a lobby of n places: what Make did before costs it nothing. Who is
// here adds an event each.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{64, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newLab(b, Config{Players: n, Relevance: RelevanceGrid, Far: 50})
			a, err := arena.Open("arena-64")
			if err != nil {
				b.Fatal(err)
			}
			g := Ground{Arena: a, Name: "arena-64"}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				if err := l.lobby.Make(&g); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := l.lobby.Change(0, g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
