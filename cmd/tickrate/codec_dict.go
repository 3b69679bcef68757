// The command codec dict: simulated matches go in, the zstd dictionary of match recordings comes
// out.

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/compress/dict"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
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
	rows     bool          // dictionaries of snapshot rows in place of recordings
}

// newCodecDict returns the command that trains the dictionaries of recordings and of snapshot rows.
func newCodecDict() *cobra.Command {
	var f dictFlags
	c := &cobra.Command{
		Use:   "dict",
		Short: "Train the zstd dictionaries of match recordings or of snapshot rows",
		Long: `dict records lobbies of an eighth, a quarter, a half and all of --players in
virtual time, each for a quarter of --duration, and writes the zstd dictionary
that packs such recordings best. The same flags give the same file.

With --rows it takes the blocks of the snapshots of these lobbies and writes the
four dictionaries of the codecs zstd and huffman-zstd: for players and for
objects, with a baseline and without one. Servers send them to clients that have
others, together with the model.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return trainDict(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 32, "`players` in the largest lobby, 2 to 256")
	fl.DurationVar(&f.duration, "duration", 4*time.Minute, "virtual `time` to play, all lobbies together")
	assets.BotFlags(c, &f.seed, &f.traces)
	fl.BoolVar(&f.rows, "rows", false, "train the dictionaries of snapshot rows")
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
	if f.rows {
		return trainRowDicts(c, f, move)
	}
	var samples [][]byte
	if err := f.lobbies(move, func(match simulatedMatch) error {
		return match.record(c.Context(), func(part server.RecordingChunk) {
			samples = append(samples, part.Chunk.Key, part.Chunk.Log)
		})
	}); err != nil {
		return err
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

// trainRowDicts simulates matches as f says and writes the dictionaries of their rows to its file.
func trainRowDicts(c *cobra.Command, f dictFlags, move assets.BotSource) error {
	samples := netstate.NewSamples()
	if err := f.lobbies(move, func(match simulatedMatch) error {
		return match.sample(c.Context(), samples)
	}); err != nil {
		return err
	}
	d, err := netstate.TrainDictionaries(samples)
	if err != nil {
		return fmt.Errorf("train the dictionaries of rows: %w", err)
	}
	file := d.Append(nil)
	if err := os.WriteFile(f.out, file, 0o644); err != nil {
		return fmt.Errorf("write the dictionaries: %w", err)
	}
	p, o := samples.Public, samples.Objects
	fmt.Fprintf(c.OutOrStdout(), "%s: %d bytes, trained on blocks of %d to %d players moving by %s\n",
		f.out, len(file), max(2, f.players/8), f.players, move.Name)
	for _, part := range []struct {
		name    string
		samples [][]byte
		blocks  *dict.Blocks
	}{
		{"players, with a baseline", p.Delta, d.Public.Delta},
		{"players, without one", p.Spawn, d.Public.Spawn},
		{"objects, with a baseline", o.Delta, d.Objects.Delta},
		{"objects, without one", o.Spawn, d.Objects.Spawn},
	} {
		fmt.Fprintf(c.OutOrStdout(), "  %-25s %5d bytes, %d samples\n", part.name,
			len(part.blocks.Dictionary()), len(part.samples))
	}
	return nil
}

// lobbies passes the lobbies to train on: of an eighth, a quarter, a half and all players.
func (f *dictFlags) lobbies(move assets.BotSource, do func(simulatedMatch) error) error {
	for _, part := range []int{8, 4, 2, 1} {
		n := max(2, f.players/part)
		seed := f.seed + uint64(part)
		match := simulatedMatch{arena: fmt.Sprintf("gen:%d:%d", n, seed), players: n,
			seed: seed, length: f.duration / 4, bots: move}
		if err := do(match); err != nil {
			return err
		}
	}
	return nil
}

// simulatedMatch is a match to play in virtual time.
type simulatedMatch struct {
	arena   string           // name of a generated map
	players int              // clients, which is also the size of the lobby
	seed    uint64           // of the match and the links
	length  time.Duration    // virtual
	bots    assets.BotSource // the players' input
	litter  bool             // barrels and cubes are about
}

// litter returns the game with two barrels and a cube for each player of a match, spread over the
// map.
func litter(game *sim.Game, in geom.AABB, m simulatedMatch) *sim.Game {
	rng := rand.New(rand.NewPCG(m.seed, 2))
	place := func(height float32) geom.Vec3 {
		size := in.Max.Sub(in.Min)
		return geom.Vec3{X: in.Min.X + size.X*rng.Float32(), Y: height, Z: in.Min.Z + size.Z*rng.Float32()}
	}
	littered := *game
	for range min(m.players, netstate.MaxStanding/4) {
		littered.Layout.Barrels = append(littered.Layout.Barrels, place(0), place(0))
		littered.Layout.Cubes = append(littered.Layout.Cubes, place(5))
	}
	return &littered
}

// record plays the match over a link of 1 % loss and 25 to 35 ms, and passes each chunk of its
// recording to keep. It ends early with the error of ctx.
func (m simulatedMatch) record(ctx context.Context, keep func(server.RecordingChunk)) error {
	b, err := m.lobby(keep)
	if err != nil {
		return err
	}
	return m.play(ctx, b)
}

// sample plays the match and keeps samples of its blocks. Nothing is lost and everything goes in
// blocks, so that the samples do not depend on a model.
func (m simulatedMatch) sample(ctx context.Context, into *netstate.Samples) error {
	m.litter = true
	b, err := m.lobby(nil)
	if err != nil {
		return err
	}
	b.Lobby.SampleBlocks(into)
	return m.play(ctx, b)
}

// lobby makes the lobby of the match. keep gets its recording, if it is not nil.
func (m simulatedMatch) lobby(keep func(server.RecordingChunk)) (*lobbysim.Sim, error) {
	a, err := assets.Map(m.arena)
	if err != nil {
		return nil, err
	}
	game, err := assets.Game(content.Default(), m.arena, "deathmatch")
	if err != nil {
		return nil, err
	}
	cfg := lobbysim.Config{
		Clients: m.players, Seed: m.seed, Brain: m.bots.Brain, Decode: client.DecodeOwn,
		Link: impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{
			Arena: a, ArenaName: m.arena, Players: m.players,
			Rules: sim.Rules{Seed: m.seed, Mix: true, RespawnMillis: 3000, Game: game}, Record: keep,
		},
	}
	if m.litter {
		cfg.Link = impair.Profile{Delay: 25 * time.Millisecond}
		cfg.Lobby.Relevance, cfg.Lobby.Rules.Game = server.RelevanceOff, litter(game, a.Bounds, m)
	}
	return lobbysim.New(cfg)
}

// play runs the lobby for the length of the match.
func (m simulatedMatch) play(ctx context.Context, b *lobbysim.Sim) error {
	for b.Now() < m.length && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
