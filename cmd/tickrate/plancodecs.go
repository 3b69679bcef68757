package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/bench/bottle"
	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/pace"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ghost"
)

// The lobby in which codecs are compared.
const (
	codecPlayers = 64
	codecWarm    = 2 // virtual seconds until all are in
	codecSeconds = 4
)

// compareCodecs plays one lobby in virtual time with every codec. It returns nil if it is interrupted.
func compareCodecs(ctx context.Context, f planFlags, models ghost.Models) (*capacity.Codecs, error) {
	all := &capacity.Codecs{Players: codecPlayers, Seconds: codecSeconds}
	first, err := schema.ParseCodec(f.codec)
	if err != nil {
		return nil, err
	}
	for i := range schema.Codecs {
		c := (first + i) % schema.Codecs
		cost, err := playCodec(ctx, f, models, c)
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		all.Each = append(all.Each, cost)
	}
	return all, nil
}

func playCodec(ctx context.Context, f planFlags, models ghost.Models, codec schema.Codec) (capacity.Codec, error) {
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	name := f.arena(codecPlayers)
	game, err := openGame(f.content, name, f.mode)
	if err != nil {
		return capacity.Codec{}, err
	}
	ground, err := openArena(name)
	if err != nil {
		return capacity.Codec{}, err
	}
	var spent time.Duration
	b, err := bottle.New(bottle.Config{
		Clients: codecPlayers, Seed: f.seed, Thin: true, Link: impair.Profile{Delay: capacity.VirtualDelay},
		Lobby: server.Config{
			Arena: ground, ArenaName: name, Players: codecPlayers,
			Rules: sim.Rules{Rate: tick.Rate(f.rate), Seed: f.seed, Game: game}, Interval: f.every, Models: models, Codec: codec,
		},
		Around: func(tick func() error) error {
			from := pace.ThreadCPU()
			err := tick()
			spent += pace.ThreadCPU() - from
			return err
		},
	})
	if err != nil {
		return capacity.Codec{}, err
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
		return capacity.Codec{}, err
	}
	out := &b.Lobby.Stats.Count[server.BytesOut]
	before := out.Load()
	spent = 0
	if err := play(codecSeconds); err != nil {
		return capacity.Codec{}, err
	}
	return capacity.Codec{
		Name: codec.String(), BytesPerSecond: float64(out.Load()-before) / codecPlayers / codecSeconds,
		TickMicros: float64(spent.Nanoseconds()) / 1000 / float64(codecSeconds*f.rate),
	}, nil
}

// printCodecs says a line a codec.
func printCodecs(w io.Writer, all *capacity.Codecs) {
	fmt.Fprintf(w, "codecs, one lobby of %d players in virtual time:\n", all.Players)
	for i, c := range all.Each {
		bytes, time := all.Against(i)
		fmt.Fprintf(w, "  %-9s %9.0f B/s a client %5.1f %%  tick %6.0f µs %4.0f %%\n", c.Name, c.BytesPerSecond, bytes, c.TickMicros, time)
	}
}
