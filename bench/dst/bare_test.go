package dst

import (
	"testing"

	"github.com/tickrate/tickrate/server/metrics"
)

// Whoever looks changes nothing: the same case with nothing looked at, played twice or recorded is the same match to the bit, of which the
// server heard and said as many datagrams, and the same people are there at the end.
func TestBare(t *testing.T) {
	seeds := []uint64{2, 7, 57} // 57: sight, a server that is killed, and 32 players
	if testing.Short() || raceEnabled {
		seeds = seeds[:1]
	}
	for _, seed := range seeds {
		var made [2]*world
		for i, as := range []checks{{}, {none: true}} {
			w, err := newWorld(Case{Seed: seed}, as)
			if err != nil {
				t.Fatal(err)
			}
			if b := w.run(); b != nil {
				t.Fatal(b)
			}
			made[i] = w
		}
		whole, bare := made[0], made[1]
		if len(bare.trace) < 400 {
			t.Errorf("seed %d: %d marks", seed, len(bare.trace))
		}
		if n := firstDifference(whole.trace, bare.trace); n >= 0 {
			t.Errorf("seed %d: another match from mark %d on when nobody looks", seed, n)
		}
		for c := range metrics.NumCounts {
			if a, b := whole.Lobby.Stats.Count[c].Load(), bare.Lobby.Stats.Count[c].Load(); a != b {
				t.Errorf("seed %d: %v is %d, and %d when nobody looks", seed, c, a, b)
			}
		}
		for i := range whole.Clients {
			a, b := whole.Clients[i].Stats(), bare.Clients[i].Stats()
			if a.Datagrams != b.Datagrams || a.Prediction != b.Prediction || whole.Clients[i].ID() != bare.Clients[i].ID() {
				t.Errorf("seed %d: client %d has %+v, and %+v when nobody looks", seed, i, a, b)
			}
		}
		if bare.shadow.match != nil || bare.recordings.file != nil || bare.shots.poses[1] != nil {
			t.Errorf("seed %d: somebody looked", seed)
		}
	}
}
