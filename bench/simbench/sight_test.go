package simbench

import (
	"testing"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/server/metrics"
)

// fightsOf plays the scenario wide and returns the hits and the shots of its players a tick.
func fightsOf(t *testing.T, ownSight bool) (hits, shots float64) {
	t.Helper()
	const players, warmup, ticks = 128, 180, 900
	s, ok := scenario.Named("wide")
	if !ok {
		t.Fatal("no scenario wide")
	}
	s = s.At(players)
	cfg, err := simConfig(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ownSight {
		cfg.OwnSight, cfg.Decode = true, client.DecodeFull
	}
	m, err := newMatch(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	count := func(c metrics.Count) float64 { return float64(m.Lobby.Stats.Count[c].Load()) }
	for range warmup {
		if err := m.Step(); err != nil {
			t.Fatal(err)
		}
	}
	hits, shots = count(metrics.Hits), count(metrics.Shots)
	for range ticks {
		if err := m.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return (count(metrics.Hits) - hits) / ticks, (count(metrics.Shots) - shots) / ticks
}

// Where walls and distance hide most players from the one that decodes for all, players fight nearly as
// much as where each decodes for itself.
func TestPlayersFightWhereOneDecodesForAll(t *testing.T) {
	if testing.Short() {
		t.Skip("two matches of 128 players")
	}
	hits, shots := fightsOf(t, false)
	ownHits, ownShots := fightsOf(t, true)
	t.Logf("hits %.3f and shots %.3f a tick; %.3f and %.3f where each decodes for itself", hits, shots, ownHits, ownShots)
	const within = 0.25 // two matches of one kind differ by a tenth; where only one sees, hits are a third
	for _, x := range []struct {
		name      string
		got, want float64
	}{{"hits", hits, ownHits}, {"shots", shots, ownShots}} {
		if x.got < (1-within)*x.want || x.got > (1+within)*x.want {
			t.Errorf("%.3f %s a tick, expected %.3f where each decodes for itself", x.got, x.name, x.want)
		}
	}
}
