package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/dst"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// cases are what a seed of many plays: one lobby, and for one seed in four a host with several. With
// --lobbies it is the host alone.
func (f *dstFlags) cases(seed uint64) []dst.Case {
	one, host := dst.Case{Seed: seed, Codec: f.Codec}, dst.Case{Seed: seed, Lobbies: f.Lobbies, Codec: f.Codec}
	if f.Lobbies > 0 {
		return []dst.Case{host}
	}
	host.Lobbies = dst.MaxLobbies
	return []dst.Case{one, host}[:1+(seed%4+1)/4]
}

// playRange plays the seeds of --seeds.
func (f *dstFlags) playRange(cmd *cobra.Command) error {
	from, to, err := span(f.seeds)
	if err != nil {
		return usage.Error(err)
	}
	next := from - 1
	m := dstTally{began: time.Now(), seeds: fmt.Sprintf("from %d on", from)}
	return f.playMany(cmd, &m, func() (uint64, bool) { next++; return next, next == to })
}

// playDrawn plays seeds drawn at random: --random, or as many as fit into --for. The last seed is
// played to its end.
func (f *dstFlags) playDrawn(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("random") && f.random == 0:
		return usage.Errorf("--random 0: expected at least 1")
	case cmd.Flags().Changed("for") && f.forTime <= 0:
		return usage.Errorf("--for %v: expected a positive duration", f.forTime)
	case !cmd.Flags().Changed("base"):
		f.base = rand.Uint64()
	}
	draw := dst.Seeds(f.base)
	m := dstTally{began: time.Now(), seeds: fmt.Sprintf("drawn with --base %d", f.base)}
	fmt.Fprintf(cmd.ErrOrStderr(), "seeds are %s\n", m.seeds)
	return f.playMany(cmd, &m, func() (uint64, bool) {
		return draw(), m.played+1 == f.random || f.forTime > 0 && time.Since(m.began) >= f.forTime
	})
}

// dstTally counts what a run of many seeds has played.
type dstTally struct {
	began  time.Time
	seeds  string // where they come from
	played uint64
	broken int           // of those with a violation
	lobby  time.Duration // virtual time of lobbies
}

// String is the line of progress, and of the page docs/experiments/simulated-lobby-hours.md.
func (m *dstTally) String() string {
	spent := time.Since(m.began)
	return fmt.Sprintf("%d seeds %s in %v, %.2f lobby-hours, %s, %d with violations", m.played, m.seeds,
		spent.Round(time.Second), m.lobby.Hours(), speed(m.lobby, spent), m.broken)
}

// playMany plays the seeds that next returns, until next calls one the last or the command's context
// ends. It prints each violation, reduced, and goes on; progress goes to standard error.
func (f *dstFlags) playMany(cmd *cobra.Command, m *dstTally, next func() (seed uint64, last bool)) error {
	reported := m.began
	for over := false; !over; {
		seed, last := next()
		violated := false
		for _, c := range f.cases(seed) {
			r, err := dst.Run(c)
			if err != nil {
				return err
			}
			m.lobby += r.Played
			if r.Violation != nil { // go on: other seeds may break other invariants
				violated = true
				fmt.Fprintln(cmd.OutOrStdout(), dst.Shrink(r.Violation, f.shrink).Error())
			}
		}
		if m.played++; violated {
			m.broken++
		}
		over = last || cmd.Context().Err() != nil
		if over || time.Since(reported) > 10*time.Second {
			reported = time.Now()
			fmt.Fprintln(cmd.ErrOrStderr(), m)
		}
	}
	if m.broken > 0 {
		return fmt.Errorf("%d of %d seeds violate an invariant", m.broken, m.played)
	}
	return nil
}
