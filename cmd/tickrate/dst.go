package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/dst"
)

func newDST() *cobra.Command {
	var c dst.Case
	var seeds, without string
	var forTime time.Duration
	var shrink int
	var list bool
	cmd := &cobra.Command{
		Use:   "dst",
		Short: "Simulate lobbies with attackers and faults, and check what must be true",
		Long: `dst plays a minute of a lobby in virtual time, a hundred times faster than life: honest clients, attackers, links that lose and
damage, clocks that drift, machines that stop, a server that is killed. All of it comes from a seed. After every tick it checks
what must be true, and for the last fifth of the minute nothing goes wrong and everybody must play.

A seed that breaks anything is made smaller, and printed as the line that plays it again.

  tickrate dst --seeds 1..200        a range of seeds
  tickrate dst --for 8h              as many as go into the time, from a seed that the clock gives
  tickrate dst --seed 12 --until 34s one, up to an instant`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if without != "" {
				set, err := dst.ParseSet(without)
				if err != nil {
					return badUse(fmt.Errorf("--without: %w", err))
				}
				c.Without = set
			}
			flags := cmd.Flags()
			many, timed := flags.Changed("seeds"), flags.Changed("for")
			if one := flags.Changed("seed"); one && (many || timed) || many && timed {
				return badUse(fmt.Errorf("--seed, --seeds and --for: expected one of them"))
			} else if one || !many && !timed {
				return playOne(cmd, c, shrink, list)
			}
			if c.Until != 0 || c.Clients != 0 || c.Without != nil || list {
				return badUse(fmt.Errorf("--until, --clients, --without and --list are of one seed: give --seed"))
			}
			from, to, err := span(seeds)
			if err != nil {
				return badUse(err)
			}
			if timed {
				from, to = uint64(time.Now().Unix())<<16, ^uint64(0)
			}
			return playMany(cmd, from, to, forTime, shrink)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&c.Seed, "seed", 1, "play this `seed`")
	f.DurationVar(&c.Until, "until", 0, "stop at this virtual `instant`, such as 12.5s; 0: after a minute")
	f.IntVar(&c.Clients, "clients", 0, "only the first `n` of the clients that the seed draws; 0: all")
	f.StringVar(&without, "without", "", "leave out faults by their `numbers`, such as 1-3,7: see --list; default none")
	f.StringVar(&seeds, "seeds", "", "play a range of seeds, `A..B`; default the one of --seed")
	f.DurationVar(&forTime, "for", 0, "play seed after seed for this `time`, such as 10m; default the one seed")
	f.IntVar(&shrink, "shrink", 60, "at most so many `runs` to make a case smaller")
	f.BoolVar(&list, "list", false, "only list the faults that the seed draws")
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

func playOne(cmd *cobra.Command, c dst.Case, shrink int, list bool) error {
	if err := c.Check(); err != nil {
		return badUse(err)
	}
	out := cmd.OutOrStdout()
	if list {
		for _, line := range dst.Faults(c) {
			fmt.Fprintln(out, line)
		}
		return nil
	}
	began := time.Now()
	b, err := dst.Run(c)
	if err != nil {
		return err
	}
	if b != nil {
		return dst.Shrink(b, shrink)
	}
	fmt.Fprintf(out, "%v: all is well, %s\n", c, speed(c.Duration(), time.Since(began)))
	return nil
}

// speed says how much faster than life a virtual time was played. What a seed is played a second time for is not counted.
func speed(virtual, spent time.Duration) string {
	return fmt.Sprintf("%.0f x real time", virtual.Seconds()/max(spent.Seconds(), 1e-3))
}

func playMany(cmd *cobra.Command, from, to uint64, most time.Duration, shrink int) error {
	began, said, n, broken := time.Now(), time.Now(), 0, 0
	for seed := from; ; seed++ {
		b, err := dst.Run(dst.Case{Seed: seed})
		if err != nil {
			return err
		}
		n++
		if b != nil {
			broken++
			fmt.Fprintln(cmd.OutOrStdout(), dst.Shrink(b, shrink).Error())
		}
		over := seed == to || most > 0 && time.Since(began) >= most || cmd.Context().Err() != nil
		if over || time.Since(said) > 10*time.Second {
			said = time.Now()
			spent := time.Since(began)
			fmt.Fprintf(cmd.ErrOrStderr(), "%d seeds from %d on in %v, %s, %d of them broke something\n", n, from, spent.Round(time.Second), speed(time.Duration(n)*dst.Length, spent), broken)
		}
		if over {
			break
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d seeds broke something", broken, n)
	}
	return nil
}
