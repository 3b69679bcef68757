//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// plan is what to measure.
type plan struct {
	binary  string // tickrate
	sizes   []int  // players
	turns   int
	window  time.Duration // measured, once all play
	warmup  time.Duration
	socket  string // of ours
	only    string // part of the names of the sides to measure; empty: all
	out     string // folder
	servers []int  // processors of the servers; nil: not pinned
}

// Children end with the thread that started them, so all are started by the main thread.
func init() { runtime.LockOSThread() }

func main() {
	p := plan{}
	sizes := flag.String("sizes", "16,32,64", "numbers of players, at most 64 each")
	flag.IntVar(&p.turns, "turns", 3, "turns of each server at each size, in alternation")
	flag.DurationVar(&p.window, "window", 6*time.Second, "measured time of a turn")
	flag.DurationVar(&p.warmup, "warmup", 2*time.Second, "time to play before that, once all players have snapshots")
	flag.StringVar(&p.socket, "socket", "gnet", "socket back end of ours: gnet or mmsg")
	flag.StringVar(&p.only, "only", "", "measure only servers whose name has this text")
	flag.StringVar(&p.binary, "binary", "../bin/tickrate", "our program")
	flag.StringVar(&p.out, "out", "../report", "folder of peers.md and peers.json")
	flag.Parse()
	if err := p.check(*sizes); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func (p *plan) check(sizes string) (err error) {
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 2 || n > 64 {
			return fmt.Errorf("-sizes %q: expected numbers from 2 to 64", sizes)
		}
		p.sizes = append(p.sizes, n)
	}
	if p.turns < 1 || p.window < time.Second || p.warmup < 0 {
		return fmt.Errorf("expected -turns of at least 1, -window of at least 1s and no negative -warmup")
	}
	if p.binary, err = filepath.Abs(p.binary); err != nil {
		return err
	}
	if _, err := os.Stat(p.binary); err != nil {
		return fmt.Errorf("our program: %w: make build makes it", err)
	}
	return nil
}

// run measures each side in each turn, and writes what came out.
func (p *plan) run(ctx context.Context) error {
	if all := clock.CPUs(); len(all) > 1 {
		p.servers = all[:1]
		if err := clock.SetProcessAffinity(all[1:]); err != nil {
			p.servers = nil
		}
	}
	r := newReport(p)
	for turn := range p.turns {
		for _, n := range p.sizes {
			for _, s := range sides {
				if !strings.Contains(s.name, p.only) {
					continue
				}
				f, err := p.measure(ctx, s, n)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					return fmt.Errorf("%s with %d players: %w", s.name, n, err)
				}
				r.add(s, n, f)
				fmt.Printf("turn %d, %2d players: %-17s %5.1f %% of a core\n", turn+1, n, s.name, 100*f.Cores)
			}
		}
	}
	return r.write(os.Stdout, p.out)
}
