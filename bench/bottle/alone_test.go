package bottle

import "testing"

// alone skips a test under the race detector: a bottle is one goroutine, and TestLobbyInABottle plays two side by side for it.
func alone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
