package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/ghost"
)

// modelFlags are the flags of model train.
type modelFlags struct {
	out     string
	players int
	seconds float64
	seed    uint64
	traces  []string
	people  []string
	replays bool
}

func newModel() *cobra.Command {
	c := &cobra.Command{
		Use:   "model",
		Short: "Train and judge compression models",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var f modelFlags
	train := &cobra.Command{
		Use:   "train",
		Short: "Train the compression models on the traffic of a lobby in virtual time",
		Long: `train plays a lobby in virtual time over a lossy link, counts every symbol its snapshots are made of, and writes the Huffman
tables that code them in the fewest bits. Server and clients must load the same file. The same flags give the same file.

With --people a second lobby of that kind is played after the first, whose players follow these recordings, and the models are for both.
A recording may be too large to lie beside the source: where one of these files is missing, --out is left as it is.`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return train(c, f) },
	}
	fl := train.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 32, "`players` in the lobby, 2 to 256")
	fl.Float64Var(&f.seconds, "seconds", 240, "virtual `seconds` to play")
	playFlags(train, &f.seed, &f.traces)
	fl.StringArrayVar(&f.people, "people", nil, "recorded play for the second lobby, one .csv or .csv.gz `file` or more; default none")
	fl.BoolVar(&f.replays, "replays", false, "train the zstd dictionary of recorded matches instead, on recordings of lobbies of up to --players")
	c.AddCommand(train, newModelRecord(), newModelEval(), newModelShow())
	return c
}

func train(c *cobra.Command, f modelFlags) error {
	switch {
	case f.out == "":
		return badUse(fmt.Errorf("no file to write: give --out"))
	case f.players < 2 || f.players > 256:
		return badUse(fmt.Errorf("%d players: expected 2 to 256", f.players))
	case !(f.seconds > 0 && f.seconds < 1e6):
		return badUse(fmt.Errorf("%g seconds: expected more than 0, less than a million", f.seconds))
	}
	if f.replays {
		return trainReplays(c, f)
	}
	for _, path := range f.people {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			fmt.Fprintf(c.OutOrStdout(), "%s is not here: %s is left as it is\n", path, f.out)
			return nil
		}
	}
	counts, moved := ghost.NewCounts(), ""
	for i, paths := range [][]string{f.traces, f.people} {
		if i > 0 && len(paths) == 0 {
			break
		}
		move, err := openMovement(paths, f.seed)
		if err != nil {
			return err
		}
		if err := f.count(c.Context(), counts, move); err != nil {
			return err
		}
		moved += [2]string{"", ", and of as many moving by "}[i] + move.name
	}
	models := ghost.Train(counts)
	if err := os.WriteFile(f.out, models.Append(nil), 0o644); err != nil {
		return fmt.Errorf("write the models: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: models %016x, trained on %.0f virtual seconds of %d players moving by %s\n",
		f.out, models.Hash(), f.seconds, f.players, moved)
	return nil
}

// count plays a lobby and counts what it codes.
func (f *modelFlags) count(ctx context.Context, n *ghost.Counts, move movement) error {
	b, err := lobbysim.New(lobbysim.Config{
		Clients: f.players, Seed: f.seed, Brain: move.brain,
		Link: impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{
			Arena: arena.Generate(f.players, f.seed), ArenaName: fmt.Sprintf("gen:%d:%d", f.players, f.seed), Players: f.players,
			Rules: sim.Rules{Seed: f.seed, Mix: true}, Models: ghost.Untrained(),
		},
	})
	if err != nil {
		return err
	}
	b.Lobby.CountSymbols(n)
	for end := seconds(f.seconds); b.Now() < end && ctx.Err() == nil; {
		if err := b.Step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
