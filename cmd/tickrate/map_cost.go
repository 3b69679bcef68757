// The cost estimate of map check: a match of bots in virtual time.

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// Bounds of an estimate.
const (
	maxMapPlayers = 256
	mapWarmup     = 15 * time.Second // in which all players join and a countdown ends, virtual
	mapSeed       = 1
)

// mapCostOptions are the flags of an estimate.
type mapCostOptions struct {
	players  int           // 0: no estimate
	duration time.Duration // measured, virtual
}

func (o *mapCostOptions) check() error {
	if o.players < 0 || o.players > maxMapPlayers {
		return usage.Errorf("--players %d: expected 0 to %d", o.players, maxMapPlayers)
	}
	if o.duration < time.Second || o.duration > 10*time.Minute {
		return usage.Errorf("--duration %v: expected 1s to 10m", o.duration)
	}
	return nil
}

// mapCost is what a match on a map takes.
type mapCost struct {
	ticks     int
	cpu       time.Duration // of the lobby's ticks
	snapshots uint64
	bytes     uint64 // UDP payload to all clients
}

// printMapCost plays bots on the map and writes CPU time and bytes.
func printMapCost(ctx context.Context, w io.Writer, m *checkedMap, name string, o mapCostOptions) error {
	cost, err := simulateMap(ctx, m, assets.MapName(name), o)
	if err != nil {
		return fmt.Errorf("cost estimate: %w", err)
	}
	if cost.ticks == 0 || cost.snapshots == 0 {
		return fmt.Errorf("cost estimate: no snapshot within %v", o.duration)
	}
	fmt.Fprintf(w, "cost: %.0f µs of CPU a tick and %d bytes a snapshot with %d bots, in %v of virtual time "+
		"without sockets, by this machine (%s/%s, %d processors): CPU time differs on others\n",
		float64(cost.cpu.Nanoseconds())/1e3/float64(cost.ticks), cost.bytes/cost.snapshots, o.players,
		o.duration, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return nil
}

// simulateMap plays a lobby as serve would set it up, and its bots, in this goroutine.
func simulateMap(ctx context.Context, m *checkedMap, name string, o mapCostOptions) (c mapCost, err error) {
	mode := "deathmatch"
	if m.placed != nil && !slices.Contains(m.placed.Modes, mode) {
		mode = m.placed.Modes[0]
	}
	game, err := assets.Game(m.pack, name, mode)
	if err != nil {
		return c, err
	}
	lobby, _, err := server.PVSFor(server.Config{Arena: m.arena, ArenaName: name, Players: o.players,
		Rules: sim.Rules{Rate: tick.DefaultRate, Seed: mapSeed, Mix: true, Game: game}}, nil)
	if err != nil {
		return c, err
	}
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	s, err := lobbysim.New(lobbysim.Config{
		Lobby: lobby, Clients: o.players, Seed: mapSeed, Decode: client.DecodeOwn,
		Brain:        func(n int) swarm.Brain { return swarm.NewBot(mapSeed, n) },
		ChangeClient: func(_ int, cfg *client.Config) { cfg.Rules, cfg.Content = sim.Rules{}, m.pack },
		WrapTick: func(tick func() error) error {
			from := clock.ThreadCPU()
			err := tick()
			c.cpu += clock.ThreadCPU() - from
			c.ticks++
			return err
		},
	})
	if err != nil {
		return c, err
	}
	play := func(until time.Duration) error {
		for s.Now() < until {
			if err := s.Step(); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := play(mapWarmup); err != nil {
		return c, err
	}
	count := &s.Lobby.Stats.Count
	c = mapCost{}
	snapshots, bytes := count[metrics.Snapshots].Load(), count[metrics.BytesOut].Load()
	err = play(mapWarmup + o.duration)
	c.snapshots, c.bytes = count[metrics.Snapshots].Load()-snapshots, count[metrics.BytesOut].Load()-bytes
	return c, err
}
