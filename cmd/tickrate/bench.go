// The command bench: the regression gate. record adds rounds of fixed lobbies to a file, compare
// tests two files stage by stage, selftest proves that the gate sees a slowdown on this machine.
// The statistics are in bench/gate.

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/gate"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/internal/wholefile"
)

// errRegressed is the error of bench compare for a regression; the exit code is then 3.
var errRegressed = errors.New("the gate fails: something takes longer than before")

// newBench returns the command bench, which holds the tools of the regression gate.
func newBench() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Compare two builds on this machine",
		Long: `bench plays fixed lobbies in virtual time and compares the CPU time of their
ticks, stage by stage, between two builds. The builds record samples
alternately, so that both meet the same disturbances, as make gate does:

  old/tickrate bench record --out old.json
  new/tickrate bench record --out new.json
  ... fifteen times more, then
  new/tickrate bench compare old.json new.json`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBenchRecord(), newBenchCompare(), newBenchSelfTest())
	return c
}

// newBenchRecord makes the command bench record, which adds samples of this build to a file.
func newBenchRecord() *cobra.Command {
	var out, only, slow string
	var count, live int
	c := &cobra.Command{
		Use:   "record",
		Short: "Add rounds of the fixed lobbies to a file",
		Args:  usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 || count > 100 {
				return usage.Errorf("--count %d: expected 1 to 100 rounds", count)
			}
			if only != "" && !slices.Contains(gate.Names, only) {
				return usage.Errorf("--only %q: expected %s", only, strings.Join(gate.Names, ", "))
			}
			s, err := gate.ParseSlowdown(slow)
			if err != nil {
				return usage.Errorf("--slow: %w", err)
			}
			if live != 0 && (live < 2 || live > scenario.MaxPlayers) {
				return usage.Errorf("--live %d: expected 2 to %d players, or 0 for no server on sockets", live,
					scenario.MaxPlayers)
			}
			if live != 0 && count > 1 {
				return usage.Errorf("--live %d --count %d: expected one round, as a server on sockets leaves this "+
					"process on fewer processors", live, count)
			}
			return recordRounds(c, out, count, func(samples *gate.Samples) error {
				if err := playRound(c, samples, only, s); err != nil || live == 0 {
					return err
				}
				return playLive(c, samples, live)
			})
		},
	}
	c.Flags().StringVar(&out, "out", "rounds.json", "`file` to add rounds to; made if it is missing")
	c.Flags().StringVar(&only, "only", "",
		"play only the lobby of this `name`: duel, match or crowd; default all three")
	c.Flags().IntVar(&count, "count", 1, "`rounds` to add, 1 to 100")
	c.Flags().IntVar(&live, "live", 0, "`players` of a server on sockets, whose tick is measured in each round "+
		"as a multiple of what its datagrams cost alone; default 0, no such server")
	c.Flags().StringVar(&slow, "slow", "",
		"burn a share of a stage's time in it once more, such as `snapshot=3%`: a regression on "+
			"purpose; default none")
	_ = c.Flags().MarkHidden("slow") // fails for unknown flags only
	return c
}

// recordRounds adds count rounds to the file out, which it makes if it is missing. play adds one. The
// file is replaced as a whole, after the last round.
func recordRounds(c *cobra.Command, out string, count int, play func(*gate.Samples) error) error {
	samples, err := readSamples(out)
	if errors.Is(err, fs.ErrNotExist) {
		samples, err = gate.New(version), nil
	}
	if err != nil {
		return err
	}
	for range count {
		if err := play(&samples); err != nil {
			return err
		}
	}
	if why := samples.NotCounted; why != "" {
		fmt.Fprintf(c.OutOrStdout(), "no instructions: %s\n", why)
	}
	raw, err := samples.Encode()
	if err == nil {
		err = wholefile.Replace(out, 0o644, raw)
	}
	return err
}

// playRound plays the lobby named only, or all lobbies if only is empty. slow burns CPU in one stage.
func playRound(c *cobra.Command, samples *gate.Samples, only string, slow gate.Slowdown) error {
	return samples.Play(c.Context(), only, slow, func(l gate.Lobby) {
		fmt.Fprintf(c.OutOrStdout(), "%v: %.1f µs a tick\n", l, l.MeanTick())
	})
}

// readSamples reads a file of rounds. Its errors are errors of use.
func readSamples(path string) (gate.Samples, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return gate.Samples{}, usage.Error(err)
	}
	s, err := gate.Parse(path, raw)
	return s, usage.Error(err)
}

// newBenchCompare makes the command bench compare, which tests every quantity that both files have.
func newBenchCompare() *cobra.Command {
	var asJSON bool
	var by string
	c := &cobra.Command{
		Use:   "compare OLD.json NEW.json",
		Short: "Compare two files of rounds; exit code 3 if something takes longer",
		Long: `compare tests every quantity that both files have: the tick and its stages,
bytes, and instructions a player and tick, where the kernel let bench record read
the counters of the processor. Times are worse from 2 % on; instructions, which do
not shake with what else the machine does, from 1 %; a server on sockets (bench
record --live) from 5 %, as a multiple of what its datagrams cost alone.`,
		Args: twoFiles,
		RunE: func(c *cobra.Command, args []string) error {
			gateBy, err := gate.ParseBy(by)
			if err != nil {
				return usage.Errorf("--gate %w", err)
			}
			old, err := readSamples(args[0])
			if err != nil {
				return err
			}
			now, err := readSamples(args[1])
			if err != nil {
				return err
			}
			all, err := gate.Compare(old, now)
			if err == nil {
				all, err = gateBy.Choose(all, old, now)
			}
			if err != nil {
				return usage.Error(err)
			}
			worse := gate.Regressed(all)
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				err = e.Encode(map[string]any{"version": gate.Version, "old": old.Commit, "new": now.Commit,
					"changes": all, "regressed": len(worse)})
			} else {
				printGate(c.OutOrStdout(), old, now, all)
			}
			if err == nil && len(worse) > 0 {
				err = errRegressed
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&by, "gate", string(gate.ByAll), "`what` decides: time, instructions, or all")
	return c
}

// printGate prints the changes of whole ticks and of bytes, and then each quantity that is worse.
func printGate(w io.Writer, old, now gate.Samples, all []gate.Change) {
	fmt.Fprintf(w, "old %s, new %s; %d quantities compared; worse is p < %g and at least %g %% more\n",
		old.Commit, now.Commit, len(all), gate.MaxP, 100*gate.MinChange)
	for _, c := range all {
		if slices.Contains([]string{"tick", "bytes", gate.Instructions, gate.Floors}, c.Of) {
			fmt.Fprintf(w, "  %v\n", c)
		}
	}
	if why := cmp.Or(now.NotCounted, old.NotCounted); why != "" {
		fmt.Fprintf(w, "  no instructions: %s\n", why)
	}
	// Stages appear only if they are worse; the file has all of them.
	worse := gate.Regressed(all)
	for _, c := range worse {
		fmt.Fprintf(w, "worse: %v\n", c)
	}
	if len(worse) == 0 {
		fmt.Fprintln(w, "nothing is worse")
	}
}

// newBenchSelfTest makes the command bench selftest, which plays rounds of this build alternately:
// an equal pair must pass, and a pair with a slower stage must fail.
func newBenchSelfTest() *cobra.Command {
	var only, slow string
	var rounds int
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Prove the gate on this machine: an equal pair passes, a slowdown of 3 % on purpose does not",
		Args:  usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			burn, err := gate.ParseSlowdown(slow)
			if err == nil && burn.Stage == "" {
				err = errors.New("expected a stage and percent, such as snapshot=3%")
			}
			if err != nil {
				return usage.Errorf("--slow: %w", err)
			}
			if rounds < gate.MinRounds || rounds > 100 {
				return usage.Errorf("--rounds %d: expected %d to 100 of each side", rounds, gate.MinRounds)
			}
			return selfTest(c, only, rounds, burn)
		},
	}
	c.Flags().StringVar(&only, "only", "match", "`name` of the lobby: duel, match or crowd")
	c.Flags().StringVar(&slow, "slow", "snapshot=3%", "`stage` to slow down, and by how much")
	c.Flags().IntVar(&rounds, "rounds", 24, "`rounds` of each side; fewer find larger slowdowns only")
	return c
}

// selfTest plays rounds of three sides in turn: two equal ones, and one with burn in a stage. The
// error says which of the two comparisons came out wrong.
func selfTest(c *cobra.Command, only string, rounds int, burn gate.Slowdown) error {
	sides := []gate.Samples{gate.New("first"), gate.New("second"), gate.New("slowed")}
	for round := range rounds {
		for i := range sides {
			// Sides alternate, so that both meet the same load of the machine. The order rotates,
			// so that load that drifts within a round meets each side.
			k := (i + round) % len(sides)
			slow := gate.Slowdown{}
			if k == 2 {
				slow = burn
			}
			if err := sides[k].Play(c.Context(), only, slow, nil); err != nil {
				return err
			}
		}
	}
	equal, err := gate.Compare(sides[0], sides[1])
	if err != nil {
		return err
	}
	slowed, err := gate.Compare(sides[0], sides[2])
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintln(w, "an equal pair:")
	printGate(w, sides[0], sides[1], equal)
	fmt.Fprintf(w, "%s slower:\n", burn.Stage)
	printGate(w, sides[0], sides[2], slowed)
	if worse := gate.Regressed(equal); len(worse) > 0 {
		return fmt.Errorf("the gate failed an equal pair: this machine is too noisy now to "+
			"compare on it: %v", worse[0])
	}
	// The gate must name the slowed stage itself, not only the whole tick.
	for _, worse := range gate.Regressed(slowed) {
		if worse.Of == burn.Stage {
			return nil
		}
	}
	return fmt.Errorf("the gate did not see that %s takes longer", burn.Stage)
}

// twoFiles is an argument check: exactly two, the file of the old build first.
func twoFiles(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usage.Errorf("expected two files, OLD.json and NEW.json, got %d; "+
			"see tickrate bench compare --help", len(args))
	}
	return nil
}
