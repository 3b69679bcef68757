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
		if r.waiting(server.ReasonTurn) > 0 {
			return
		}
	}
	t.Errorf("no player waits for its turn: %v", r.violation)
}

// waiting counts the pairs of a client and a player that is not in its newest snapshot for a reason.
func (r *run) waiting(reason server.Reason) (n int) {
	for i := range r.Clients {
		c := r.joined(i)
		for _, id := range r.players {
			if c != nil && r.Lobby.Explain(c.ID(), id).Reason == reason {
				n++
			}
		}
	}
	return n
}
