package swarm

import (
	"testing"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Every lobby looks around as often as every other: in each tick at 60 Hz, in one of four at 128 Hz.
func TestLobbiesLookAroundInTurn(t *testing.T) {
	for _, c := range []struct {
		rate  tick.Rate
		every int
	}{{20, 1}, {60, 1}, {64, 2}, {128, 4}} {
		const lobbies, rounds = 7, 3
		var v vision
		var looks [lobbies]int
		for range rounds * c.every {
			first, every := v.next(c.rate)
			if every != c.every {
				t.Errorf("%d Hz: one of %d lobbies, want one of %d", c.rate, every, c.every)
			}
			for lobby := first; lobby < lobbies; lobby += every {
				looks[lobby]++
			}
		}
		for lobby, n := range looks {
			if n != rounds {
				t.Errorf("%d Hz: lobby %d looked around %d times, want %d", c.rate, lobby, n, rounds)
			}
		}
	}
}
