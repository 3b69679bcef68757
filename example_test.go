package tickrate_test

import (
	"fmt"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim/arena"
)

// A lobby of eight players in virtual time: server, clients and a network that loses every
// twentieth datagram, in one goroutine, from one seed. Half a minute of play takes some
// milliseconds.
func Example() {
	ground, _ := arena.Open("arena-16")
	lobby, err := lobbysim.New(lobbysim.Config{
		Clients: 8, Seed: 1,
		Link:  impair.Profile{Loss: 0.05, Delay: 40 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 8},
	})
	for tick := 0; err == nil && tick < 30*60; tick++ {
		err = lobby.Step() // one tick of the server, and the clients' work up to the next tick
	}
	n := &lobby.Lobby.Stats.Count
	fmt.Println("players:", n[metrics.Joined].Load(), "error:", err)
	fmt.Println("somebody was hit:", n[metrics.Hits].Load() > 0)
	used, missing := float64(n[metrics.InputsUsed].Load()), float64(n[metrics.InputsMissing].Load())
	fmt.Printf("ticks that had their player's own input: %.1f %%\n", 100*used/(used+missing))
	// Output:
	// players: 8 error: <nil>
	// somebody was hit: true
	// ticks that had their player's own input: 100.0 %
}
