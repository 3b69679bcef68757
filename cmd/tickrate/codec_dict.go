// The command codec dict: simulated matches go in, the zstd dictionary of match recordings comes
// out.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/content"
)

// replayDictBytes is the size of the dictionary of recordings, in bytes.
const replayDictBytes = 32 << 10

// dictFlags are the flags of codec dict.
type dictFlags struct {
	out      string        // file of the dictionary
	players  int           // in the largest lobby
	duration time.Duration // virtual, of all lobbies together
	seed     uint64        // of maps, matches and bots
	traces   []string      // recorded play that the bots follow; none for seeded bots
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

// trainDict records lobbies of four sizes, so that the dictionary suits small and large matches,
// and trains it on the keyframes and input logs of their chunks.
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
		return errors.New(
			"train the dictionary of recordings: too little was recorded; give a longer --duration")
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
	arena   string           // name of a generated map
	players int              // clients, which is also the size of the lobby
	seed    uint64           // of the match and the links
	length  time.Duration    // virtual
	bots    assets.BotSource // the players' input
}

// record plays the match over a link of 1 % loss and 25 to 35 ms, and passes each chunk of its
// recording to keep. It ends early with the error of ctx.
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
