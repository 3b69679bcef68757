package server

import (
	"testing"
	"time"
)

// The flight recorder of a reserved lobby records from the first tick on, whatever else is reserved:
// lobbies of 33 to 64 slots have memory for killcams, larger ones none.
func TestReservedLobbyRecordsItsFlight(t *testing.T) {
	for _, slots := range []int{8, 33, 64, 65} {
		l := newTestLobby(t, Config{Players: slots, FlightRecorder: true})
		l.lobby.Reserve()
		for n := range 3 {
			if err := l.lobby.Tick(time.Duration(n)*time.Second/60, 0, l.conn); err != nil {
				t.Fatal(err)
			}
		}
		f := l.lobby.EndFlight()
		if f == nil {
			t.Errorf("%d slots: nothing was recorded", slots)
			continue
		}
		if chunks := f.Chunks(); len(chunks) != 1 || chunks[0].Ticks != 3 {
			t.Errorf("%d slots: %d chunks, want one of 3 ticks", slots, len(chunks))
		}
	}
}
