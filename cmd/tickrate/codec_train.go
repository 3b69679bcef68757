// The command codec train: simulated lobbies go in, the Huffman models of snapshot rows come out.

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// trainFlags are the flags of codec train.
type trainFlags struct {
	out      string        // file of the models
	players  int           // in each lobby
	duration time.Duration // virtual, of each lobby
	seed     uint64        // of the map, the match, the bots and the links
	traces   []string      // recorded play that the bots of the first lobby follow
	people   []string      // the same for a second lobby; none for no second lobby
}

// newCodecTrain returns the command that trains the Huffman models of snapshot rows. The models of
// this build were made by it (go generate ./sim/netstate).
func newCodecTrain() *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train",
		Short: "Train the models of snapshot rows on a simulated lobby",
		Long: `train plays a lobby in virtual time over a lossy link, counts every symbol of
its snapshots, and writes the Huffman tables that code them in the fewest bits.
Server and clients must load the same file. The same flags give the same file.

With --people train plays a second lobby after the first, in which players
follow these recordings, and counts both. Large recordings may be missing from a
checkout: if one of these files is missing, --out is left as it is.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return train(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 32, "`players` in the lobby, 2 to 256")
	fl.DurationVar(&f.duration, "duration", 4*time.Minute, "virtual `time` to play")
	assets.BotFlags(c, &f.seed, &f.traces)
	fl.StringArrayVar(&f.people, "people", nil,
		"recorded play for the second lobby, one .csv or .csv.gz `file` or more; default none")
	return c
}

// checkTraining refuses values that train and dict cannot use. Its errors are errors of use.
func checkTraining(out string, players int, duration time.Duration) error {
	switch {
	case out == "":
		return usage.Errorf("no file to write: give --out")
	case players < 2 || players > 256:
		return usage.Errorf("--players %d: expected 2 to 256", players)
	case duration <= 0 || duration > maxVirtual:
		return usage.Errorf("--duration %v: expected more than 0, at most %v", duration, maxVirtual)
	}
	return nil
}

// maxVirtual bounds the virtual time of one simulated lobby.
const maxVirtual = 100 * time.Hour

// train plays the lobbies of f, counts their symbols and writes the models. It succeeds without
// writing if a file of f.people is missing: checkouts may lack large recordings.
func train(c *cobra.Command, f trainFlags) error {
	if err := checkTraining(f.out, f.players, f.duration); err != nil {
		return err
	}
	for _, path := range f.people {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			fmt.Fprintf(c.OutOrStdout(), "%s is not here: %s is left as it is\n", path, f.out)
			return nil
		}
	}
	counts, moved := netstate.NewCounts(), ""
	for i, paths := range [][]string{f.traces, f.people} {
		if i > 0 && len(paths) == 0 {
			break
		}
		move, err := assets.Bots(paths, f.seed)
		if err != nil {
			return err
		}
		if err := f.count(c.Context(), counts, move); err != nil {
			return err
		}
		// The description of the bots, for the last line of output.
		moved += [2]string{"", ", and of as many moving by "}[i] + move.Name
	}
	models := netstate.Train(counts)
	if err := os.WriteFile(f.out, models.Append(nil), 0o644); err != nil {
		return fmt.Errorf("write the models: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(),
		"%s: models %016x, trained on %v of virtual time with %d players moving by %s\n",
		f.out, models.Hash(), f.duration, f.players, moved)
	return nil
}

// count plays a lobby and adds the symbols of its snapshots to n. The lobby codes with untrained
// models, which give every symbol a code.
func (f *trainFlags) count(ctx context.Context, n *netstate.Counts, move assets.BotSource) error {
	b, err := lobbysim.New(lobbysim.Config{
		Clients: f.players, Seed: f.seed, Brain: move.Brain,
		Link: impair.Profile{Loss: 0.01, Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Lobby: server.Config{
			Arena: arena.Generate(f.players, f.seed), Players: f.players,
			ArenaName: fmt.Sprintf("gen:%d:%d", f.players, f.seed),
			Rules:     sim.Rules{Seed: f.seed, Mix: true}, Models: netstate.Untrained(),
		},
	})
	if err != nil {
		return err
	}
	b.Lobby.CountSymbols(n)
	for b.Now() < f.duration && ctx.Err() == nil {
		if err := b.Step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
