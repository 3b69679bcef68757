package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/server"
)

// What the laws take for granted of towns is what a server finds on their maps.
func TestWalledShare(t *testing.T) {
	const maps = 24
	for _, players := range []int{14, 20, 24} {
		walled, side := 0.0, 0.0
		for k := range maps {
			a, err := openArena(fmt.Sprintf("town:%d:%d", players, 100+k))
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := server.WithWalls(server.Config{Arena: a, ArenaName: "town", Players: players})
			if err != nil {
				t.Fatal(err)
			}
			if cfg.PVS != nil {
				walled++
			}
			size := a.Bounds.Max.Sub(a.Bounds.Min)
			side = float64(max(size.X, size.Z))
		}
		want := capacity.WalledShare(side)
		if open := 3*math.Sqrt(want*(1-want)/maps) + 1./maps; math.Abs(walled/maps-want) > open {
			t.Errorf("towns for %d players, of %g m: %.2f of them have a table of sight, taken for %.2f ± %.2f", players, side, walled/maps, want, open)
		}
	}
}
