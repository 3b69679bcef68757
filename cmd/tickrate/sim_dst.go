package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"

	"github.com/tickrate/tickrate/bench/dst"
	"github.com/tickrate/tickrate/ecs/schema"
)

// newDST returns the command that plays simulated lobbies with attackers and faults.
func newDST() *cobra.Command {
	var c dst.Case
	var seeds, without, codec string
	var forTime time.Duration
	var shrink int
	var list bool
	cmd := &cobra.Command{
		Use:   "dst",
		Short: "Simulate lobbies with attackers and faults, and check invariants after every tick",
		Long: `dst simulates one minute of a lobby in virtual time: honest clients, attackers,
links that lose and damage datagrams, clocks that drift, machines that stall, a
server that is killed. One seed determines all of it. The invariants are checked
after every tick. No fault acts in the last twelve seconds, and every honest
client must then play normally.

A seed that violates an invariant is reduced to a smaller case and printed as
the command that repeats it. Otherwise dst prints a hash of the final state: two
runs of one seed print the same hash.

  tickrate sim dst --seeds 1..200        a range of seeds
  tickrate sim dst --for 8h              as many seeds as fit, starting from one given by the clock
  tickrate sim dst --seed 12 --until 34s one seed, up to an instant`,
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if without != "" {
				set, err := dst.ParseSet(without)
				if err != nil {
					return usage.Errorf("--without: %w", err)
				}
				c.Without = set
			}
			var err error
			if c.Codec, err = schema.ParseCodec(codec); err != nil {
				return usage.Error(err)
			}
			flags := cmd.Flags()
			many, timed := flags.Changed("seeds"), flags.Changed("for")
			if one := flags.Changed("seed"); one && (many || timed) || many && timed {
				return usage.Errorf("--seed, --seeds and --for: expected one of them")
			} else if one || !many && !timed {
				return playOne(cmd, c, shrink, list)
			}
			if c.Until != 0 || c.Clients != 0 || c.Without != nil || list {
				return usage.Errorf("--until, --clients, --without and --list need --seed")
			}
			from, to, err := span(seeds)
			if err != nil {
				return usage.Error(err)
			}
			if timed {
				from, to = uint64(time.Now().Unix())<<16, ^uint64(0)
			}
			return playMany(cmd, c, [2]uint64{from, to}, forTime, shrink)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&c.Seed, "seed", 1, "`seed` to run")
	f.DurationVar(&c.Until, "until", 0, "virtual `time` at which the run stops, such as 12.5s; 0 is one minute")
	f.IntVar(&c.Clients, "clients", 0, "run only the first `n` clients of the seed; 0 is all")
	f.StringVar(&without, "without", "", "leave out the faults with these `numbers`, such as 1-3,7 (see --list); default none")
	f.StringVar(&seeds, "seeds", "", "run a range of seeds, `A..B`; default none")
	f.DurationVar(&forTime, "for", 0, "run seed after seed for this `duration`, such as 10m")
	f.IntVar(&shrink, "shrink", 60, "most `runs` spent on reducing a failing case")
	f.StringVar(&codec, "codec", schema.Huffman.String(), "`codec` of snapshots, as of serve")
	f.BoolVar(&list, "list", false, "list the faults of the seed and stop")
	return cmd
}

// span reads A..B.
func span(text string) (from, to uint64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(text, "..")
	if _, err = fmt.Sscanf(a+" "+b, "%d %d", &from, &to); err != nil || to < from {
		return 0, 0, fmt.Errorf("--seeds %q: expected A..B, such as 1..200", text)
	}
	return from, to, nil
}

// playOne plays the case c, or prints its faults if list is set.
func playOne(cmd *cobra.Command, c dst.Case, shrink int, list bool) error {
	if err := c.Check(); err != nil {
		return usage.Error(err)
	}
	out := cmd.OutOrStdout()
	if list {
		for _, line := range dst.Faults(c) {
			fmt.Fprintln(out, line)
		}
		return nil
	}
	began := time.Now()
	r, err := dst.Run(c)
	if err != nil {
		return err
	}
	if r.Violation != nil {
		return dst.Shrink(r.Violation, shrink)
	}
	fmt.Fprintf(out, "%v: no violation, final state %016x, %s\n", c, r.Hash, speed(c.Duration(), time.Since(began)))
	return nil
}

// speed formats the ratio of virtual to real time. Repeats of a seed for comparison count as real
// time only.
func speed(virtual, spent time.Duration) string {
	return fmt.Sprintf("%.0f x real time", virtual.Seconds()/max(spent.Seconds(), 1e-3))
}

// playMany plays the case c with each of the seeds, first to last, until most has passed, and prints
// each violation.
func playMany(cmd *cobra.Command, c dst.Case, seeds [2]uint64, most time.Duration, shrink int) error {
	began, said, n, broken := time.Now(), time.Now(), 0, 0
	from, to := seeds[0], seeds[1]
	for seed := from; ; seed++ {
		c.Seed = seed
		r, err := dst.Run(c)
		if err != nil {
			return err
		}
		n++
		if r.Violation != nil {
			broken++
			fmt.Fprintln(cmd.OutOrStdout(), dst.Shrink(r.Violation, shrink).Error())
		}
		over := seed == to || most > 0 && time.Since(began) >= most || cmd.Context().Err() != nil
		if over || time.Since(said) > 10*time.Second {
			said = time.Now()
			spent := time.Since(began)
			fmt.Fprintf(cmd.ErrOrStderr(), "%d seeds from %d on in %v, %s, %d with violations\n", n, from, spent.Round(time.Second), speed(time.Duration(n)*dst.Length, spent), broken)
		}
		if over {
			break
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d seeds violate an invariant", broken, n)
	}
	return nil
}
