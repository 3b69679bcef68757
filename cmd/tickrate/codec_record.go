// The command codec record: a simulated lobby goes in, an entity-state trace for codec eval comes
// out.

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/assets"

	"github.com/tickrate/tickrate/cmd/internal/usage"

	"github.com/tickrate/tickrate/bench/codeceval/rowtrace"
)

// recordFlags are the flags of codec record.
type recordFlags struct {
	out      string        // file of the trace
	players  int           // in the lobby
	duration time.Duration // virtual, from the time when all have joined
	hz       int           // snapshots a second, a divisor of 60
	seed     uint64        // of the match, the bots and the links
	traces   []string      // recorded play that the bots follow; none for seeded bots
	idle     bool          // no player moves
}

// newCodecRecord returns the command that records the snapshots of a simulated match.
func newCodecRecord() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record",
		Short: "Record the snapshot rows of a simulated lobby",
		Long: `record plays a lobby in virtual time over a lossy link and writes the public
rows of its players as an entity-state trace (.itr), for codec eval. It begins
when all have joined. The same flags give the same file.`,
		Example: `  tickrate codec record --trace duel.csv.gz --players 16 --duration 1m --out duel.itr
  tickrate codec record --idle --players 16 --duration 10s --out idle.itr`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return record(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 16, "`players` in the lobby, 1 to 256")
	fl.DurationVar(&f.duration, "duration", time.Minute, "virtual `time` to record")
	fl.IntVar(&f.hz, "hz", 20, "`snapshots` a second, a divisor of 60")
	assets.BotFlags(c, &f.seed, &f.traces)
	fl.BoolVar(&f.idle, "idle", false, "nobody does anything")
	return c
}

// record checks f, plays its match and writes the snapshots to the trace file.
func record(c *cobra.Command, f recordFlags) error {
	switch {
	case f.out == "":
		return usage.Errorf("no file to write: give --out")
	case f.players < 1 || f.players > 256:
		return usage.Errorf("--players %d: expected 1 to 256", f.players)
	case f.duration <= 0 || f.duration > maxVirtual:
		return usage.Errorf("--duration %v: expected more than 0, at most %v", f.duration, maxVirtual)
	case f.hz < 1 || 60%f.hz != 0:
		return usage.Errorf("--hz %d: expected a divisor of 60", f.hz)
	case f.idle && len(f.traces) > 0:
		return usage.Errorf("--idle and --trace: expected one of them")
	}
	cfg := rowtrace.Config{Name: f.out, Players: f.players, Duration: f.duration, Hz: f.hz, Seed: f.seed}
	name := "nothing: nobody moves"
	if !f.idle {
		move, err := assets.Bots(f.traces, f.seed)
		if err != nil {
			return err
		}
		cfg.Brain, name = move.Brain, move.Name
	}
	t, err := rowtrace.Record(cfg, c.Context().Err)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.out, t.Append(nil), 0o644); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d snapshots of %d players, %d a second, moving by %s\n",
		f.out, len(t.Snapshots), t.Entities, f.hz, name)
	return nil
}
