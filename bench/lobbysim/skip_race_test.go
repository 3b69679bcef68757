package lobbysim

import "testing"

// skipUnderRace skips a test under the race detector: a simulation is one goroutine, and
// TestLobbySim plays two side by side for it.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
