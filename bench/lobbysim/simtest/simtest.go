// Package simtest is a lobby in virtual time for the tests of what surrounds a lobby. A test and a
// lobby's configuration go in; a running simulation comes out, and every error ends the test.
package simtest

import (
	"sync"
	"testing"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
)

// MapName is the name of the map that Arena returns.
const MapName = "arena-16"

// Arena returns the map of lobbies that name none. It is read-only.
var Arena = sync.OnceValue(func() *arena.Arena {
	a, err := arena.Open(MapName)
	if err != nil {
		panic(err)
	}
	return a
})

// New returns a lobby with clients that connect with the first step. A configuration without a map
// gets Arena, and one without a number of players gets 8.
func New(t testing.TB, cfg server.Config, clients int) *lobbysim.Sim {
	t.Helper()
	if cfg.Arena == nil {
		cfg.Arena, cfg.ArenaName = Arena(), MapName
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

// Steps plays n ticks.
func Steps(t testing.TB, s *lobbysim.Sim, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}
