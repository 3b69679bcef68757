package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
)

// replayDictBytes is the size of the dictionary of replays.
const replayDictBytes = 32 << 10

// trainReplays plays lobbies of an eighth, a quarter, a half and all of the players, records them, and trains the dictionary on what the
// recordings are made of.
func trainReplays(c *cobra.Command, f modelFlags) error {
	move, err := openMovement(f.traces, f.seed)
	if err != nil {
		return err
	}
	var samples [][]byte
	for _, part := range []int{8, 4, 2, 1} {
		n := max(2, f.players/part)
		if err := reels(c.Context(), n, f.seed+uint64(part), f.seconds/4, move, func(film server.Film) {
			samples = append(samples, film.Chunk.Key, film.Chunk.Log)
		}); err != nil {
			return err
		}
	}
	d := dict.Train(samples, replayDictBytes)
	if d == nil {
		return errors.New("train the dictionary of replays: too little was recorded; give more --seconds")
	}
	if err := os.WriteFile(f.out, d, 0o644); err != nil {
		return fmt.Errorf("write the dictionary: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d bytes, trained on %d pieces of recordings of %d to %d players moving by %s\n",
		f.out, len(d), len(samples), max(2, f.players/8), f.players, move.name)
	return nil
}

// reels plays a lobby in virtual time on a map of its size and hands out its recording.
func reels(ctx context.Context, players int, seed uint64, length float64, move movement, keep func(server.Film)) error {
	return reelsOn(ctx, fmt.Sprintf("gen:%d:%d", players, seed), players, seed, length, move, keep)
}

func reelsOn(ctx context.Context, ground string, players int, seed uint64, length float64, move movement, keep func(server.Film)) error {
	a, err := openArena(ground)
	if err != nil {
		return err
	}
	game, err := openGame("", ground, "deathmatch")
	if err != nil {
		return err
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: players, Seed: seed, Brain: move.brain, Thin: true,
		Link: impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{
			Arena: a, ArenaName: ground, Players: players,
			Rules: sim.Rules{Seed: seed, Mix: true, RespawnMillis: 3000, Game: game}, Record: keep,
		},
	})
	if err != nil {
		return err
	}
	for end := seconds(length); b.Now() < end && ctx.Err() == nil; {
		if err := b.Step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
