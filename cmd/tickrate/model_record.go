package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/film"
)

// recordFlags are the flags of model record.
type recordFlags struct {
	out     string
	players int
	seconds float64
	hz      int
	seed    uint64
	traces  []string
	idle    bool
}

func newModelRecord() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record",
		Short: "Record what a lobby in virtual time tells of its players",
		Long: `record plays a lobby in virtual time over a lossy link and writes the public rows of its players as an entity-state trace
(.itr), for model eval. It begins when all have joined. The same flags give the same file.`,
		Example: `  tickrate model record --trace duel.csv.gz --players 16 --seconds 60 --out duel.itr
  tickrate model record --idle --players 16 --seconds 10 --out idle.itr`,
		Args: moreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return record(c, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "", "`file` to write (required)")
	fl.IntVar(&f.players, "players", 16, "`players` in the lobby, 1 to 256")
	fl.Float64Var(&f.seconds, "seconds", 60, "virtual `seconds` to record")
	fl.IntVar(&f.hz, "hz", 20, "`snapshots` a second, a divisor of 60")
	playFlags(c, &f.seed, &f.traces)
	fl.BoolVar(&f.idle, "idle", false, "nobody does anything")
	return c
}

func record(c *cobra.Command, f recordFlags) error {
	switch {
	case f.out == "":
		return badUse(fmt.Errorf("no file to write: give --out"))
	case f.players < 1 || f.players > 256:
		return badUse(fmt.Errorf("%d players: expected 1 to 256", f.players))
	case !(f.seconds > 0 && f.seconds < 1e5):
		return badUse(fmt.Errorf("%g seconds: expected more than 0, less than 100000", f.seconds))
	case f.hz < 1 || 60%f.hz != 0:
		return badUse(fmt.Errorf("--hz %d: expected a divisor of 60", f.hz))
	case f.idle && len(f.traces) > 0:
		return badUse(fmt.Errorf("--idle and --trace: expected one of them"))
	}
	cfg := film.Config{Name: f.out, Players: f.players, Seconds: f.seconds, Hz: f.hz, Seed: f.seed}
	name := "nothing: nobody moves"
	if !f.idle {
		move, err := openMovement(f.traces, f.seed)
		if err != nil {
			return err
		}
		cfg.Brain, name = move.brain, move.name
	}
	t, err := film.Record(cfg, c.Context().Err)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.out, t.Append(nil), 0o644); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d snapshots of %d players, %d a second, moving by %s\n", f.out, len(t.Snapshots), t.Entities, f.hz, name)
	return nil
}
