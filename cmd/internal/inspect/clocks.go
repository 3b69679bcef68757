package inspect

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tickrate/tickrate/bench/lobbysim"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/arena"
)

// joining is the time in which the client joins and measures the path. The drawing leaves it out.
const joining = 3 * time.Second

// ClocksOptions are the settings of Clocks.
type ClocksOptions struct {
	From, To time.Duration // round trip before and after; round trip in the middle third
	Jitter   time.Duration // largest extra delay of a datagram, each way
	Duration time.Duration // virtual time that is drawn
	Seed     uint64        // of the lobby
	Out      string        // file of the SVG; - for standard output
}

// Clocks plays a step of the round-trip time and writes a drawing of what the client's three clocks
// do: to a file, or to out if the file is named -. Options out of range are errors of use.
func Clocks(out io.Writer, o ClocksOptions) error {
	switch {
	case o.Duration < 6*time.Second || o.Duration > 10*time.Minute:
		return usage.Errorf("--duration %v: expected 6s to 10m", o.Duration)
	case o.From < 0 || o.To < 0 || o.From > time.Second || o.To > time.Second:
		return usage.Errorf("round trips of %v and %v: expected 0 to 1s", o.From, o.To)
	case o.Jitter < 0 || o.Jitter > 200*time.Millisecond:
		return usage.Errorf("jitter %v: expected 0 to 200ms", o.Jitter)
	}
	samples, resets, err := o.play()
	if err != nil {
		return err
	}
	title := fmt.Sprintf("A client's clocks: round trip %v, %v, and back", o.From, o.To)
	if o.Out != "-" {
		file, err := os.Create(o.Out)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := report.WriteClocks(file, title, samples); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d samples, %d hard resets\n", o.Out, len(samples), resets)
		return file.Close()
	}
	return report.WriteClocks(out, title, samples)
}

// play plays the step in a lobby of four clients and samples the clocks of the first client, whose
// path it is, at every step of the simulation. Times begin at the end of the joining time. resets
// counts the hard resets of its predicted clock.
func (o *ClocksOptions) play() (samples []report.Clocks, resets uint64, err error) {
	ground, err := arena.Open("arena-16")
	if err != nil {
		return nil, 0, err
	}
	// Jitter cannot be larger than the delay that it changes.
	path := func(rtt time.Duration) impair.Profile {
		return impair.Profile{Delay: rtt / 2, Jitter: min(o.Jitter, rtt/2)}
	}
	b, err := lobbysim.New(lobbysim.Config{
		Clients: 4, Seed: o.Seed, Link: path(o.From),
		Lobby: server.Config{Arena: ground, ArenaName: "arena-16", Players: 8,
			Rules: sim.Rules{Seed: o.Seed}},
	})
	if err != nil {
		return nil, 0, err
	}
	end := joining + o.Duration
	third := (end - joining) / 3
	up, down := b.Links(0)
	for rtt := o.From; b.Now() < end; {
		want := o.From
		if at := b.Now() - joining; at >= third && at < 2*third {
			want = o.To
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
		// The reference is the server's tick as time; the clocks are relative to the same start.
		m := b.Lobby.Match()
		s := report.Clocks{At: m.Rules().Rate.At(m.Tick()) - joining, RTT: rtt}
		s.Server, s.Predicted, s.Render = b.Clients[0].Clocks()
		s.Server, s.Predicted, s.Render = s.Server-joining, s.Predicted-joining, s.Render-joining
		samples = append(samples, s)
	}
	return samples, b.Clients[0].Stats().HardResets, nil
}
