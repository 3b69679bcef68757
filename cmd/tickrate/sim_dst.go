// The command sim dst: deterministic simulation tests. The simulator is bench/dst; many seeds are
// played in sim_dst_many.go.

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/dst"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/ecs/schema"
)

// dstFlags are the flags of sim dst. Those of the case need a single seed.
type dstFlags struct {
	dst.Case
	without string        // faults to leave out, as dst.ParseSet reads them
	codec   string        // of snapshots, as schema.ParseCodec reads it
	list    bool          // lists the faults of the seed and stops
	seeds   string        // range of seeds, A..B
	random  uint64        // draws as many seeds
	forTime time.Duration // draws seeds for this time
	base    uint64        // of the seeds that are drawn
	shrink  int           // most runs to reduce a failing case
}

// newDST returns the command that simulates lobbies with attackers and faults and checks invariants
// after every tick.
func newDST() *cobra.Command {
	var f dstFlags
	c := &cobra.Command{
		Use:   "dst",
		Short: "Simulate lobbies with attackers and faults, and check invariants after every tick",
		Long: `dst simulates one minute of a lobby in virtual time: honest clients, attackers,
links that lose and damage datagrams, clocks that drift, machines that stall, a
server that is killed. One seed determines all of it. The invariants are checked
after every tick. No fault acts in the last twelve seconds, and every honest
client must then play normally.

With --lobbies it simulates 24 seconds of a host with several lobbies on one port:
lobbies that are made, ended and panic while others play, clients that change
lobbies or have tokens for one that is gone, full or elsewhere. Each lobby must
play as if it were alone. Of the seeds of a range or a time, one in four is played
as such a host, too.

A seed that violates an invariant is reduced to a smaller case and printed as
the command that repeats it. Otherwise dst prints a hash of the final state: two
runs of one seed print the same hash.

  tickrate sim dst                       one seed, drawn at random
  tickrate sim dst --for 8h              as many random seeds as fit into the time
  tickrate sim dst --random 200          as many random seeds
  tickrate sim dst --random 200 --base 7 the same seeds again: the base is printed
  tickrate sim dst --seeds 1..200        a range of seeds
  tickrate sim dst --seed 12 --until 34s one seed, up to an instant`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	fl := c.Flags()
	fl.Uint64Var(&f.Seed, "seed", 0, "`seed` to run; default one drawn at random")
	fl.DurationVar(&f.Until, "until", 0,
		"virtual `time` at which the run stops, such as 12.5s; 0 is all of the run")
	fl.IntVar(&f.Lobbies, "lobbies", 0,
		"simulate a host with at most `n` of the seed's lobbies, 1 to 5; 0 is one lobby without a host")
	fl.IntVar(&f.Clients, "clients", 0, "run only the first `n` clients of the seed; 0 is all")
	fl.StringVar(&f.without, "without", "",
		"leave out the faults with these `numbers`, such as 1-3,7 (see --list); default none")
	fl.StringVar(&f.seeds, "seeds", "", "run a range of seeds, `A..B`; default none")
	fl.Uint64Var(&f.random, "random", 0, "run `n` seeds drawn at random; default none")
	fl.DurationVar(&f.forTime, "for", 0, "run seeds drawn at random for this `duration`, such as 10m; default none")
	fl.Uint64Var(&f.base, "base", 0,
		"`number` that the seeds of --random and --for are drawn from; default one drawn at random")
	fl.IntVar(&f.shrink, "shrink", 60, "most `runs` spent on reducing a failing case")
	fl.StringVar(&f.codec, "codec", schema.Huffman.String(), "`codec` of snapshots, as of serve")
	fl.BoolVar(&f.list, "list", false, "list the faults of the seed and stop")
	return c
}

// run plays one seed, a range of seeds, or seeds for a time, as the flags that were given say.
func (f *dstFlags) run(c *cobra.Command) error {
	if f.without != "" {
		set, err := dst.ParseSet(f.without)
		if err != nil {
			return usage.Errorf("--without: %w", err)
		}
		f.Without = set
	}
	var err error
	if f.Codec, err = schema.ParseCodec(f.codec); err != nil {
		return usage.Error(err)
	}
	typed := c.Flags().Changed
	chosen := 0
	for _, name := range []string{"seed", "seeds", "random", "for"} {
		if typed(name) {
			chosen++
		}
	}
	drawn := typed("random") || typed("for")
	single := chosen == 0 || typed("seed")
	switch {
	case chosen > 1:
		return usage.Errorf("--seed, --seeds, --random and --for: expected one of them")
	case typed("base") && !drawn:
		return usage.Errorf("--base needs --random or --for")
	case f.shrink < 0:
		return usage.Errorf("--shrink %d: expected 0 or more", f.shrink)
	case !typed("seed") && (f.Until != 0 || f.Clients != 0 || f.Without != nil || f.list):
		return usage.Errorf("--until, --clients, --without and --list need --seed")
	case f.list:
		return listFaults(c, f.Case)
	case single && !typed("seed"):
		f.Seed = rand.Uint64()
		fallthrough
	case single:
		return playOne(c, f.Case, f.shrink)
	case f.Lobbies < 0 || f.Lobbies > dst.MaxLobbies:
		return usage.Errorf("--lobbies %d: expected 1 to %d, or 0 for one lobby without a host",
			f.Lobbies, dst.MaxLobbies)
	case drawn:
		return f.playDrawn(c)
	}
	return f.playRange(c)
}

// span parses a range of seeds, A..B, both included.
func span(text string) (from, to uint64, err error) {
	a, b, _ := strings.Cut(text, "..")
	if _, err = fmt.Sscanf(a+" "+b, "%d %d", &from, &to); err != nil || to < from {
		return 0, 0, fmt.Errorf("--seeds %q: expected A..B, such as 1..200", text)
	}
	return from, to, nil
}

// listFaults prints the faults of a case, a line each with its number.
func listFaults(cmd *cobra.Command, c dst.Case) error {
	if err := c.Check(); err != nil {
		return usage.Error(err)
	}
	for _, line := range dst.Faults(c) {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	return nil
}

// playOne plays a case and prints the hash of its final state. The error of a violation is reduced
// to a smaller case first, in at most shrink runs.
func playOne(cmd *cobra.Command, c dst.Case, shrink int) error {
	if err := c.Check(); err != nil {
		return usage.Error(err)
	}
	began := time.Now()
	r, err := dst.Run(c)
	if err != nil {
		return err
	}
	if r.Violation != nil {
		return dst.Shrink(r.Violation, shrink)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%v: no violation, final state %016x, %s\n", c, r.Hash,
		speed(c.Duration(), time.Since(began)))
	return nil
}

// speed formats the ratio of virtual to real time. The repeats of a seed that dst compares count as
// real time only.
func speed(virtual, spent time.Duration) string {
	return fmt.Sprintf("%.0f x real time", virtual.Seconds()/max(spent.Seconds(), 1e-3))
}
