package dst

import (
	"testing"

	"github.com/tickrate/tickrate/server/metrics"
)

// The checks change nothing: a case without checks, shadow match and recording gives the same match
// to the bit, the same counters and the same clients.
func TestWithoutChecks(t *testing.T) {
	seeds := []uint64{57} // walls, a killed server and 32 players; Run compares every fifth seed so
	if testing.Short() || raceEnabled {
		seeds[0] = 2
	}
	for _, seed := range seeds {
		var made [2]*run
		for i, as := range []skipped{{}, {checks: true}} {
			r, err := newRun(Case{Seed: seed}, as)
			if err != nil {
				t.Fatal(err)
			}
			if v := r.play(); v != nil {
				t.Fatal(v)
			}
			made[i] = r
		}
		checked, unchecked := made[0], made[1]
		if len(unchecked.trace) < 400 {
			t.Errorf("seed %d: %d hashes", seed, len(unchecked.trace))
		}
		if n := firstDifference(checked.trace, unchecked.trace); n >= 0 {
			t.Errorf("seed %d: the match differs from hash %d on without checks", seed, n)
		}
		for c := range metrics.NumCounts {
			if a, b := checked.Lobby.Stats.Count[c].Load(), unchecked.Lobby.Stats.Count[c].Load(); a != b {
				t.Errorf("seed %d: %v is %d, and %d without checks", seed, c, a, b)
			}
		}
		for i := range checked.Clients {
			a, b := checked.Clients[i].Stats(), unchecked.Clients[i].Stats()
			equal := a.Datagrams == b.Datagrams && a.Prediction == b.Prediction
			if !equal || checked.Clients[i].ID() != unchecked.Clients[i].ID() {
				t.Errorf("seed %d: client %d has %+v, and %+v without checks", seed, i, a, b)
			}
		}
		if unchecked.shadow.match != nil || unchecked.recordings.file != nil ||
			unchecked.shots.poses[1] != nil {
			t.Errorf("seed %d: the run without checks checked something", seed)
		}
	}
}
