package dst

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/server"
)

// Some seeds play a lobby in which far players wait for their turn.
func TestTurnsAreTaken(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	r, err := newRun(Case{Seed: 4}, skipped{})
	if err != nil {
		t.Fatal(err)
	}
	for r.Now() < 20*time.Second && r.violation == nil {
		if err := r.Step(); err != nil {
			t.Fatal(err)
		}
		r.afterStep()
		for n := range r.Clients {
			c := r.joined(n)
			for _, id := range r.players {
				if c != nil && r.Lobby.Explain(c.ID(), id).Reason == server.ReasonTurn {
					return
				}
			}
		}
	}
	t.Errorf("no player waits for its turn: %v", r.violation)
}
