package dst

import (
	"testing"
	"time"

	"github.com/tickrate/tickrate/server"
)

// Some seeds play a lobby in which join bursts take turns, and all invariants hold there.
func TestJoinBurstsTakeTurns(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine")
	}
	const seed = uint64(1) << 63
	r, err := newRun(Case{Seed: seed}, skipped{})
	if err != nil {
		t.Fatal(err)
	}
	waits := 0 // rows that a join burst had left for another turn, tick by tick
	for r.Now() < 5*time.Second && r.violation == nil {
		if err := r.Step(); err != nil {
			t.Fatal(err)
		}
		r.afterStep()
		waits += r.waiting(server.ReasonJoining)
	}
	if waits == 0 || r.violation != nil {
		t.Errorf("seed %d: %d rows wait: %v", seed, waits, r.violation)
	}
}
