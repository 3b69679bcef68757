// The command impair: a UDP proxy that delays, drops, duplicates and damages datagrams by a
// profile. The relay and the profiles are in netio/impair.

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
	"github.com/tickrate/tickrate/netio/impair"
)

// impairFlags are the flags of impair.
type impairFlags struct {
	listen   string        // UDP host:port that clients send to
	to       string        // UDP host:port of the server
	up, down string        // profiles of each direction; down is empty for that of up
	clients  int           // most clients at a time
	duration time.Duration // 0 for no limit
	seed     uint64        // of the random decisions of every link
	list     bool          // prints the named profiles and exits
}

// newImpair returns the command that relays datagrams between clients and a server and impairs them
// on the way.
func newImpair() *cobra.Command {
	var f impairFlags
	c := &cobra.Command{
		Use:   "impair",
		Short: "Put a bad network in front of a UDP server",
		Long: `impair passes datagrams between clients and a server, and impairs them on the
way: late, lost, doubled, damaged, as a profile asks and a seed decides. The
server sees every client at a port of its own. It ends with the counts.

  tickrate impair --list
  tickrate impair --listen 127.0.0.1:7920 --to 127.0.0.1:7913 --profile mobile
  tickrate impair --to 127.0.0.1:7913 --profile mobile,rebind=10s --down rate=512kbit,delay=40ms

A profile is a name of --list, settings, or a name and settings that change it.
Settings: loss, burst, burst-length, burst-loss, burst-max, delay, jitter,
duplicate, reorder, reorder-by, corrupt, corrupt-bytes, truncate, rate, queue,
blackhole, blackhole-every, rebind. Shares are 5% or 0.05, times 40ms or 10s.
Rates are bits a second, 512kbit or 1.5Mbit, or bytes, 64kB; queues are bytes.`,
		Args: usage.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.list {
				return listProfiles(c.OutOrStdout())
			}
			return runImpair(c, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:0", "UDP `host:port` for clients; port 0 for any")
	fl.StringVar(&f.to, "to", "", "UDP `host:port` of the server (required)")
	fl.StringVar(&f.up, "profile", "mobile", "`profile` of each way")
	fl.StringVar(&f.down, "down", "",
		"`profile` of the way to the clients, if another; default that of --profile")
	fl.IntVar(&f.clients, "clients", 1024, "most `clients` at a time, 1 to 65536; each costs a socket")
	fl.DurationVar(&f.duration, "duration", 0, "`time` to run; 0 until interrupted")
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of every link")
	fl.BoolVar(&f.list, "list", false, "print the named profiles and exit")
	return c
}

// listProfiles prints the named profiles as a table.
func listProfiles(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PROFILE\tEACH WAY\tABOUT")
	for _, n := range impair.Presets() {
		settings := n.Profile.String()
		if settings == n.Name {
			settings = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", n.Name, settings, n.About)
	}
	return t.Flush()
}

// config turns flags into a configuration. All its errors are errors of use, not marked yet.
func (f impairFlags) config() (cfg impair.ProxyConfig, err error) {
	switch {
	case f.to == "":
		return cfg, fmt.Errorf("no server to pass datagrams to: give --to")
	case f.clients < 1 || f.clients > 1<<16:
		return cfg, fmt.Errorf("%d clients: expected 1 to %d", f.clients, 1<<16)
	case f.duration < 0:
		return cfg, fmt.Errorf("--duration %v: expected 0 or more", f.duration)
	}
	if _, err := resolveUDP(f.to); err != nil {
		return cfg, fmt.Errorf("server address: %w", err)
	}
	if _, err := resolveUDP(f.listen); err != nil {
		return cfg, fmt.Errorf("address to listen on: %w", err)
	}
	// The server's direction has the profile of the clients' unless it was given.
	cfg = impair.ProxyConfig{Listen: f.listen, To: f.to, Seed: f.seed, Clients: f.clients}
	if cfg.Up, err = impair.ParseProfile(f.up); err != nil {
		return cfg, err
	}
	cfg.Down = cfg.Up
	if f.down != "" {
		cfg.Down, err = impair.ParseProfile(f.down)
	}
	return cfg, err
}

// runImpair relays datagrams with the impairment of f until its duration is over or the command's
// context ends, and then prints the counts.
func runImpair(c *cobra.Command, f impairFlags) error {
	cfg, err := f.config()
	if err != nil {
		return usage.Error(err)
	}
	p, err := impair.NewProxy(cfg)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "clients to udp %v, server %s, seed %d\n  up   %v\n  down %v\n",
		p.Addr(), f.to, f.seed, cfg.Up, cfg.Down)
	ctx := c.Context()
	if f.duration > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.duration)
		defer stop()
	}
	if err := p.Run(ctx); err != nil {
		return err
	}
	return printCounts(w, p.Stats())
}

// printCounts prints the datagrams of each kind and direction. It leaves out kinds that did not
// occur, but for the first two.
func printCounts(w io.Writer, s impair.ProxyStats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "datagrams\tup\tdown\t")
	for i, row := range []struct {
		name     string
		up, down uint64
	}{
		{"received", s.Up.Received, s.Down.Received},
		{"delivered", s.Up.Delivered, s.Down.Delivered},
		{"lost", s.Up.Lost, s.Down.Lost},
		{"bursts", s.Up.Bursts, s.Down.Bursts},
		{"blackholed", s.Up.Blackholed, s.Down.Blackholed},
		{"choked", s.Up.QueueDrops, s.Down.QueueDrops},
		{"duplicated", s.Up.Duplicated, s.Down.Duplicated},
		{"reordered", s.Up.Reordered, s.Down.Reordered},
		{"corrupted", s.Up.Corrupted, s.Down.Corrupted},
		{"truncated", s.Up.Truncated, s.Down.Truncated},
		{"rebound", s.Up.Rebound, s.Down.Rebound},
		{"oversize", s.Up.Oversize, s.Down.Oversize},
		{"overflow", s.Up.Overflow, s.Down.Overflow},
		{"stranded", s.Up.Abandoned, s.Down.Abandoned},
		{"send failed", s.Up.SendFailed, s.Down.SendFailed},
		{"bytes delivered", s.Up.DeliveredBytes, s.Down.DeliveredBytes},
	} {
		if i < 2 || row.up+row.down > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t\n", row.name, row.up, row.down)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s served; %s of others refused\n",
		several(int(s.Joined), "client"), several(int(s.Refused), "datagram"))
	return err
}
