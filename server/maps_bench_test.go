package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/tickrate/tickrate/sim/arena"
)

// BenchmarkChange measures a map change in a lobby of n slots, and in tick-ns/op the tick in which it
// happens. Work that Make did before is not in that. Each connection adds one message.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{1000} {
		b.Run(fmt.Sprintf("players=%d", n), func(b *testing.B) {
			l := newTestLobby(b, Config{Players: n, Relevance: RelevanceGrid, ViewDistance: 50})
			a, err := arena.Open("arena-64")
			if err != nil {
				b.Fatal(err)
			}
			g := LoadedMap{Arena: a, Name: "arena-64"}
			b.ReportAllocs()
			var ticks time.Duration
			// Make is inside the timed loop: without it the loop would run for minutes.
			for b.Loop() {
				if err := l.lobby.PrepareMap(&g); err != nil {
					b.Fatal(err)
				}
				at := time.Now()
				if err := l.lobby.InstallMap(0, g); err != nil {
					b.Fatal(err)
				}
				ticks += time.Since(at)
			}
			b.ReportMetric(float64(ticks.Nanoseconds())/float64(b.N), "tick-ns/op")
		})
	}
}
