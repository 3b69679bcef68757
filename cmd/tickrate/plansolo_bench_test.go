package main

import (
	"testing"

	"github.com/tickrate/tickrate/sim/content"
)

// What one match costs that a prediction plays, its map included.
func BenchmarkPlayOn(b *testing.B) {
	for _, c := range []struct {
		name string
		l    lesson
	}{
		{"open", lesson{64, 60, 3, "", false}},
		{"far", lesson{96, 60, 3, "far=30", false}},
		{"town", lesson{64, 60, 3, "map=town", false}},
		{"town,few", lesson{24, 60, 3, "map=town", false}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := c.l.scenario(matchSeconds)
			b.ReportAllocs()
			ticks, pack := 0, content.Default()
			for i := 0; b.Loop(); i++ { // the same few matches whatever b.N is
				m, err := playOn(b.Context(), s, pack, s.Play.Seed+uint64(i%4), playedSeed+uint64(i%4))
				if err != nil {
					b.Fatal(err)
				}
				ticks += m.ticks + int(s.Measure.WarmSeconds)*s.Rates.TickHz
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ticks*s.Lobby.Players), "ns/player/tick")
		})
	}
}
