package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/tickrate/tickrate/client"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/content"
)

// replayDictBytes is the size of the dictionary of replays.
const replayDictBytes = 32 << 10

// dictFlags are the flags of codec dict.
type dictFlags struct {
	out      string
	players  int
	duration time.Duration
	seed     uint64
	traces   []string
}

// newCodecDict returns the command that trains the dictionary of recordings.
func newCodecDict() *cobra.Command {
	var f dictFlags
	c := &cobra.Command{
		Use:   "dict",
		Short: "Train the zstd dictionary of match recordings",
		Long: `dict records lobbies of an eighth, a quarter, a half and all of --players in
virtual time, each for a quarter of --duration, and writes the zstd dictionary
that packs such recordings best. The same flags give the same file.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return trainDict(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 32, "`players` in the largest lobby, 2 to 256")
	fl.DurationVar(&f.duration, "duration", 4*time.Minute, "virtual `time` to play, all lobbies together")
	assets.BotFlags(c, &f.seed, &f.traces)
	return c
}

// trainDict simulates matches as f says and writes a dictionary for their recordings to its file.
func trainDict(c *cobra.Command, f dictFlags) error {
	if err := checkTraining(f.out, f.players, f.duration); err != nil {
		return err
	}
	move, err := assets.Bots(f.traces, f.seed)
	if err != nil {
		return err
	}
	var samples [][]byte
	for _, part := range []int{8, 4, 2, 1} {
		n := max(2, f.players/part)
		seed := f.seed + uint64(part)
		match := simulatedMatch{fmt.Sprintf("gen:%d:%d", n, seed), n, seed, f.duration / 4, move}
		if err := match.record(c.Context(), func(part server.RecordingChunk) {
			samples = append(samples, part.Chunk.Key, part.Chunk.Log)
		}); err != nil {
			return err
		}
	}
	d := dict.Train(samples, replayDictBytes)
	if d == nil {
		return errors.New("train the dictionary of replays: too little was recorded; give a " +
			"longer --duration")
	}
	if err := os.WriteFile(f.out, d, 0o644); err != nil {
		return fmt.Errorf("write the dictionary: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(),
		"%s: %d bytes, trained on %d parts of recordings of %d to %d players moving by %s\n",
		f.out, len(d), len(samples), max(2, f.players/8), f.players, move.Name)
	return nil
}

// simulatedMatch is a match to record in virtual time.
type simulatedMatch struct {
	arena   string
	players int
	seed    uint64
	length  time.Duration
	bots    assets.BotSource
}

// record plays the match and passes each part of its recording to keep.
func (m simulatedMatch) record(ctx context.Context, keep func(server.RecordingChunk)) error {
	a, err := assets.Map(m.arena)
	if err != nil {
		return err
	}
	game, err := assets.Game(content.Default(), m.arena, "deathmatch")
	if err != nil {
		return err
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: m.players, Seed: m.seed, Brain: m.bots.Brain, Decode: client.DecodeOwn,
		Link: impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{
			Arena: a, ArenaName: m.arena, Players: m.players,
			Rules: sim.Rules{Seed: m.seed, Mix: true, RespawnMillis: 3000, Game: game}, Record: keep,
		},
	})
	if err != nil {
		return err
	}
	for b.Now() < m.length && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
