package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/netstate"
)

// The lobby in which codecs are compared.
const (
	codecPlayers = 64
	codecWarm    = 2 // virtual seconds until all are in
	codecSeconds = 4
	codecPlays   = 3 // of each tick, of which the least counts
)

// compareCodecs plays one lobby in virtual time with every codec, one after the other, and all of them again: what disturbs a machine lasts for seconds. It returns nil if it is
// interrupted.
func compareCodecs(ctx context.Context, f planFlags, models netstate.Models) (*capacity.Codecs, error) {
	all := &capacity.Codecs{Players: codecPlayers, Seconds: codecSeconds}
	first, err := schema.ParseCodec(f.codec)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	var least [schema.Codecs][]time.Duration // by tick
	for play := range codecPlays {
		for i := range schema.Codecs {
			cost, ticks, err := playCodec(ctx, f, models, (first+i)%schema.Codecs)
			if err != nil || ctx.Err() != nil {
				return nil, err
			}
			if play == 0 {
				all.Each, least[i] = append(all.Each, cost), ticks
			}
			for k, took := range ticks {
				least[i][k] = min(least[i][k], took)
			}
		}
	}
	for i, ticks := range least {
		sum := time.Duration(0)
		for _, took := range ticks {
			sum += took
		}
		all.Each[i].TickMicros = float64(sum.Nanoseconds()) / 1000 / float64(len(ticks))
	}
	return all, nil
}

// playCodec plays the lobby once, and returns what each measured tick took beside it. The caller's goroutine is on one thread, whose CPU time it is.
func playCodec(ctx context.Context, f planFlags, models netstate.Models, codec schema.Codec) (capacity.Codec, []time.Duration, error) {
	name := f.arena(codecPlayers)
	game, err := openGame(f.content, name, f.mode)
	if err != nil {
		return capacity.Codec{}, nil, err
	}
	ground, err := openArena(name)
	if err != nil {
		return capacity.Codec{}, nil, err
	}
	var ticks []time.Duration
	b, err := lobbysim.New(lobbysim.Config{
		Clients: codecPlayers, Seed: f.seed, Thin: true, Link: impair.Profile{Delay: capacity.VirtualDelay},
		Lobby: server.Config{
			Arena: ground, ArenaName: name, Players: codecPlayers,
			Rules: sim.Rules{Rate: tick.Rate(f.rate), Seed: f.seed, Game: game}, Interval: f.every, Models: models, Codec: codec,
		},
		Around: func(tick func() error) error {
			from := clock.ThreadCPU()
			err := tick()
			ticks = append(ticks, clock.ThreadCPU()-from)
			return err
		},
	})
	if err != nil {
		return capacity.Codec{}, nil, err
	}
	play := func(seconds int) error {
		for range seconds * f.rate {
			if err := b.Step(); err != nil {
				return err
			}
			if ctx.Err() != nil {
				break
			}
		}
		return nil
	}
	if err := play(codecWarm); err != nil {
		return capacity.Codec{}, nil, err
	}
	out := &b.Lobby.Stats.Count[metrics.BytesOut]
	before := out.Load()
	ticks = ticks[:0]
	if err := play(codecSeconds); err != nil {
		return capacity.Codec{}, nil, err
	}
	return capacity.Codec{Name: codec.String(), BytesPerSecond: float64(out.Load()-before) / codecPlayers / codecSeconds}, ticks, nil
}

// printCodecs says a line a codec.
func printCodecs(w io.Writer, all *capacity.Codecs) {
	fmt.Fprintf(w, "codecs, one lobby of %d players in virtual time:\n", all.Players)
	for i, c := range all.Each {
		bytes, time := all.Against(i)
		fmt.Fprintf(w, "  %-9s %9.0f B/s a client %5.1f %%  tick %6.0f µs %4.0f %%\n", c.Name, c.BytesPerSecond, bytes, c.TickMicros, time)
	}
}
