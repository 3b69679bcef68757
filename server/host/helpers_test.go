package host

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/netio/netcode"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// ground is the map of the tests.
var ground = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open("arena-16")
	if err != nil {
		panic(err)
	}
	return a
})

// publicAddrs are addresses of a server as tokens name it.
var publicAddrs = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7913"),
	netip.MustParseAddrPort("[::1]:7913")}

// waitLimit bounds every wait for a host: a busy machine may stall for seconds.
const waitLimit = 20 * time.Second

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", waitLimit, what)
		}
	}
}

var labKey = netcode.Key{0: 29, 1: 7, 31: 9}

// newSim returns a lobby with clients in virtual time.
func newSim(t testing.TB, cfg server.Config, clients int) *lobbysim.Sim {
	t.Helper()
	if cfg.Arena == nil {
		cfg.Arena, cfg.ArenaName = ground(), "arena-16"
	}
	if cfg.Players == 0 {
		cfg.Players = 8
	}
	s, err := lobbysim.New(lobbysim.Config{Lobby: cfg, Clients: clients, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps plays n ticks.
func steps(t testing.TB, s *lobbysim.Sim, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// alone skips a long test under the race detector if it runs on one goroutine.
func alone(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
