package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/server/metrics"
)

// errRegressed ends a program with exit code 3.
var errRegressed = errors.New("the gate is shut: something takes longer than before")

// What a round plays.
const (
	roundPlays   = 6 // of each tick; the least counts
	roundSeconds = 3
)

// newRounds is plan's subcommand that measures what the gate compares.
func newRounds() *cobra.Command {
	var out, only, slow string
	var count int
	c := &cobra.Command{
		Use:   "rounds",
		Short: "Measure rounds of fixed lobbies in virtual time, to compare builds by",
		Long: `rounds plays the same lobbies again and again, adds the CPU time of their ticks by stage to a file, and compares nothing. Two builds
are compared by files that were made alternately, a round of each at a time, as make gate does:

  old/tickrate plan rounds --out old.json
  new/tickrate plan rounds --out new.json
  ... some times more, then
  new/tickrate plan --baseline old.json --against new.json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 || count > 100 {
				return badUse(fmt.Errorf("--count %d: expected 1 to 100 rounds", count))
			}
			burn, err := parseSlow(slow)
			if err != nil {
				return badUse(err)
			}
			m, err := knownRounds(out)
			if err != nil {
				return err
			}
			for range count {
				if err := playRound(c.Context(), &m, only, burn, c.OutOrStdout()); err != nil {
					return err
				}
			}
			return writeMeasurements(out, m)
		},
	}
	c.Flags().StringVar(&out, "out", "rounds.json", "`file` to add rounds to; made if need be")
	c.Flags().StringVar(&only, "only", "", "play only the lobby of this `name`: duel, match or crowd; default all three")
	c.Flags().IntVar(&count, "count", 1, "`rounds` to add, 1 to 100")
	slowFlag(c, &slow)
	return c
}

// slowFlag is the hidden flag that plants a regression.
func slowFlag(c *cobra.Command, slow *string) {
	c.Flags().StringVar(slow, "slow", "", "burn a share of what a stage takes in it once more, such as `snapshot=10%`: a planted regression; default none")
	_ = c.Flags().MarkHidden("slow") // the flag is there
}

// parseSlow reads "stage=10%"; "" is none.
func parseSlow(text string) (slowdown, error) {
	if text == "" {
		return slowdown{}, nil
	}
	stage, share, _ := strings.Cut(text, "=")
	percent, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	known := false
	for i := range metrics.NumStages {
		known = known || metrics.Stage(i).String() == stage
	}
	if err != nil || !known || !(percent > 0 && percent <= 1000) {
		return slowdown{}, fmt.Errorf("--slow %q: expected the name of a stage and percent, such as snapshot=10%%", text)
	}
	return slowdown{stage: stage, share: percent / 100}.tuned(), nil
}

// gated are the lobbies of a round: small and fast, and large.
func gated() (all []scenario.Scenario) {
	for _, l := range []struct {
		name               string
		players, hz, every int
	}{{"duel", 10, 128, 2}, {"match", 64, 60, 3}, {"crowd", 192, 60, 3}} {
		s := scenario.Default()
		s.Name, s.Lobby.Players, s.Rates.TickHz, s.Rates.SendEvery = l.name, l.players, l.hz, l.every
		s.Measure.Seconds, s.Measure.WarmSeconds = roundSeconds, 2
		all = append(all, s)
	}
	return all
}

// knownRounds reads a file that may not be there yet.
func knownRounds(path string) (capacity.Measurements, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return capacity.Measurements{Machine: machine(), Commit: version, Started: time.Now()}, nil
	}
	return readMeasurements(path)
}

func writeMeasurements(path string, m capacity.Measurements) error {
	raw, err := m.Encode()
	if err == nil {
		err = report.Replace(path, raw)
	}
	return err
}

// playRound adds one round of every gated lobby.
func playRound(ctx context.Context, m *capacity.Measurements, only string, slow slowdown, w io.Writer) error {
	found := false
	for _, s := range gated() {
		if only != "" && s.Name != only {
			continue
		}
		found = true
		step, err := rehearse(ctx, s, 1, roundPlays, slow)
		if err != nil {
			return err
		}
		for i := range m.Steps {
			if m.Steps[i].Facts.GateKey() == step.Facts.GateKey() {
				step.Facts.Round++
			}
		}
		m.Steps = append(m.Steps, capacity.Measurement{Step: step})
		fmt.Fprintf(w, "round %d of %s: %.1f µs a tick\n", step.Facts.Round+1, step.Facts.GateKey(), 1000*step.TickCPUMillis.Mean)
	}
	if !found {
		return badUse(fmt.Errorf("--only %q: expected duel, match or crowd", only))
	}
	return nil
}

// gate compares with a baseline: with rounds of another file, or with rounds that are played now.
func gate(c *cobra.Command, f planFlags) error {
	slow, err := parseSlow(f.slow)
	if err != nil {
		return badUse(err)
	}
	old, err := readMeasurements(f.baseline)
	if err != nil {
		return err
	}
	var now capacity.Measurements
	if f.against != "" {
		now, err = readMeasurements(f.against)
	} else if err := playable(f.baseline, old); err != nil {
		return badUse(err)
	} else {
		now = capacity.Measurements{Machine: machine(), Commit: version}
		for range capacity.GateRounds {
			if err = playRound(c.Context(), &now, "", slow, c.ErrOrStderr()); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	all, err := capacity.Gate(old, now)
	if err != nil {
		return badUse(fmt.Errorf("%s: expected %w", f.baseline, err))
	}
	worse := capacity.Regressed(all)
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"old": old.Commit, "new": now.Commit, "changes": all, "regressed": len(worse)}); err != nil {
			return err
		}
	} else {
		printGate(c.OutOrStdout(), old, now, all, worse)
	}
	if len(worse) > 0 {
		return errRegressed
	}
	return nil
}

// playable refuses a baseline of other lobbies than those that would be played to compare with it.
func playable(path string, old capacity.Measurements) error {
	known := map[string]capacity.Facts{}
	for _, s := range gated() {
		f := asked(s)
		f.Virtual, f.Plays, f.Seconds = true, roundPlays, roundSeconds
		known[f.GateKey()] = f
	}
	for _, s := range old.Steps {
		now, ok := known[s.Facts.GateKey()]
		if !ok {
			return fmt.Errorf("%s: expected a file of plan rounds, got %s: such files are compared by --against another", path, s.Facts.GateKey())
		}
		if err := capacity.SameWork(s.Facts, &now); err != nil {
			return fmt.Errorf("%s: expected %w", path, err)
		}
	}
	return nil
}

func printGate(w io.Writer, old, now capacity.Measurements, all, worse []capacity.Change) {
	fmt.Fprintf(w, "old %s, new %s; %d quantities compared, worse is p < %g and at least %g %% more\n", old.Commit, now.Commit, len(all), capacity.GateP, 100*capacity.GateChange)
	for _, c := range all {
		if c.Of == "tick" || c.Of == "bytes" {
			fmt.Fprintf(w, "  %v\n", c)
		}
	}
	for _, c := range worse {
		fmt.Fprintf(w, "worse: %v\n", c)
	}
	if len(worse) == 0 {
		fmt.Fprintln(w, "nothing is worse")
	}
}

// selfTest plays pairs of rounds of this very build alternately: an equal pair must pass, and one with a stage that takes 10 % longer fail.
func newSelfTest() *cobra.Command {
	var lobby, slow string
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Prove the gate on this machine: an equal pair passes, a planted slowdown of 10 % does not",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			burn, err := parseSlow(slow)
			if err == nil && burn.share == 0 {
				err = errors.New("--slow: expected the name of a stage and percent, such as snapshot=10%")
			}
			if err != nil {
				return badUse(err)
			}
			var side [3]capacity.Measurements
			for i := range side {
				side[i] = capacity.Measurements{Machine: machine(), Commit: []string{"first", "second", "slowed"}[i]}
			}
			for round := range capacity.GateRounds {
				for i := range side {
					k := (i + round) % len(side) // whoever comes first may find the machine in another mood
					plant := slowdown{}
					if k == 2 {
						plant = burn
					}
					if err := playRound(c.Context(), &side[k], lobby, plant, io.Discard); err != nil {
						return err
					}
				}
			}
			equal, err := capacity.Gate(side[0], side[1])
			if err != nil {
				return err
			}
			planted, err := capacity.Gate(side[0], side[2])
			if err != nil {
				return err
			}
			w := c.OutOrStdout()
			fmt.Fprintln(w, "an equal pair:")
			printGate(w, side[0], side[1], equal, capacity.Regressed(equal))
			fmt.Fprintf(w, "%s longer:\n", slow)
			printGate(w, side[0], side[2], planted, capacity.Regressed(planted))
			return proven(capacity.Regressed(equal), capacity.Regressed(planted), burn.stage)
		},
	}
	c.Flags().StringVar(&lobby, "lobby", "match", "`name` of the lobby: duel, match or crowd")
	c.Flags().StringVar(&slow, "slow", "snapshot=10%", "`stage` that is slowed, and by how much")
	return c
}

// proven says what the self-test showed.
func proven(equal, planted []capacity.Change, stage string) error {
	if len(equal) > 0 {
		return fmt.Errorf("the gate failed an equal pair: this machine is too noisy now to compare on it: %v", equal[0])
	}
	for _, c := range planted {
		if c.Of == stage {
			return nil
		}
	}
	return fmt.Errorf("the gate did not see that %s takes longer", stage)
}
