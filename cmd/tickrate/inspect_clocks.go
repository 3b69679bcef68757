package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// clocksFlags are the flags of inspect clocks.
type clocksFlags struct {
	from, to, jitter time.Duration
	duration         time.Duration
	seed             uint64
	out              string
}

func newInspectClocks() *cobra.Command {
	var f clocksFlags
	c := &cobra.Command{
		Use:   "clocks",
		Short: "Play a step of the round trip in virtual time, and draw what a client's three clocks do",
		Long: `clocks plays a lobby in virtual time whose path to one client becomes longer at a third of the time and short again at two
thirds, and draws that client's clocks against the server's as an SVG: predicted, which commands are made for, server, as
the client thinks it is, and render, which is what it looks at.

  tickrate inspect clocks --from 50ms --to 150ms -o clocks.svg`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return inspectClocks(c, f) },
	}
	fl := c.Flags()
	fl.DurationVar(&f.from, "from", 50*time.Millisecond, "round trip before and after, as `10ms`, up to 1s")
	fl.DurationVar(&f.to, "to", 150*time.Millisecond, "round trip in the middle, as `10ms`, up to 1s")
	fl.DurationVar(&f.jitter, "jitter", 4*time.Millisecond, "how much longer a datagram may take each way, as `4ms`")
	fl.DurationVar(&f.duration, "duration", 18*time.Second, "virtual `time` to play, 6s to 10m")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of the lobby")
	fl.StringVarP(&f.out, "out", "o", "clocks.svg", "`file` to write, - for the terminal")
	return c
}

// joining is left out of the picture: the time in which the client joins and learns of the path.
const joining = 3 * time.Second

func inspectClocks(c *cobra.Command, f clocksFlags) error {
	switch {
	case f.duration < 6*time.Second || f.duration > 10*time.Minute:
		return badUse(fmt.Errorf("--duration %v: expected 6s to 10m", f.duration))
	case f.from < 0 || f.to < 0 || f.from > time.Second || f.to > time.Second:
		return badUse(fmt.Errorf("round trips of %v and %v: expected 0 to 1s", f.from, f.to))
	case f.jitter < 0 || f.jitter > 200*time.Millisecond:
		return badUse(fmt.Errorf("jitter %v: expected 0 to 200ms", f.jitter))
	}
	samples, resets, err := playClocks(f)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("A client's clocks: round trip %v, %v, and back", f.from, f.to)
	out := c.OutOrStdout()
	if f.out != "-" {
		file, err := os.Create(f.out)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := report.WriteClocks(file, title, samples); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d samples, %d hard resets\n", f.out, len(samples), resets)
		return file.Close()
	}
	return report.WriteClocks(out, title, samples)
}

// playClocks plays the step and notes the clocks of the client whose path it is.
func playClocks(f clocksFlags) (samples []report.Clocks, resets uint64, err error) {
	ground, err := arena.Open("arena-16")
	if err != nil {
		return nil, 0, err
	}
	path := func(rtt time.Duration) impair.Profile {
		return impair.Profile{Delay: rtt / 2, Jitter: min(f.jitter, rtt/2)}
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: 4, Seed: f.seed, Link: path(f.from),
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 8, Rules: sim.Rules{Seed: f.seed}},
	})
	if err != nil {
		return nil, 0, err
	}
	end := joining + f.duration
	third := (end - joining) / 3
	up, down := b.Links(0)
	for rtt := f.from; b.Now() < end; {
		want := f.from
		if at := b.Now() - joining; at >= third && at < 2*third {
			want = f.to
		}
		if want != rtt {
			rtt = want
			up.SetProfile(path(rtt))
			down.SetProfile(path(rtt))
		}
		if err := b.Step(); err != nil {
			return nil, 0, err
		}
		if b.Now() < joining {
			continue
		}
		m := b.Lobby.Match()
		s := report.Clocks{At: m.Rules().Rate.At(m.Tick()) - joining, RTT: rtt}
		s.Server, s.Predicted, s.Render = b.Clients[0].Clocks()
		s.Server, s.Predicted, s.Render = s.Server-joining, s.Predicted-joining, s.Render-joining
		samples = append(samples, s)
	}
	return samples, b.Clients[0].Stats().HardResets, nil
}
