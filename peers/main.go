//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// plan is what to measure.
type plan struct {
	binary  string // tickrate
	sizes   []int  // players
	turns   int
	window  time.Duration // measured, once all play
	warmup  time.Duration
	socket  string // of ours
	only    string // part of the labels of the sides to measure; empty: all
	out     string // folder
	servers []int  // processors of the servers; nil: not pinned
}

// Children end with the thread that started them, so all are started by the main thread.
func init() { runtime.LockOSThread() }

func main() {
	p, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
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

// parse reads the command line. Help goes to usage.
func parse(args []string, usage io.Writer) (*plan, error) {
	p := &plan{}
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	sizes := f.String("sizes", "16,32,64", "numbers of players, 2 to 64 each")
	f.IntVar(&p.turns, "turns", 3, "turns of each server at each size, in alternation")
	f.DurationVar(&p.window, "window", 6*time.Second, "measured time of a turn, at least 1s")
	f.DurationVar(&p.warmup, "warmup", 2*time.Second, "time to play before that, once all players have snapshots")
	f.StringVar(&p.socket, "socket", "gnet", "socket back end of ours: gnet or mmsg")
	f.StringVar(&p.only, "only", "", "measure only servers whose label has this text: OpenArena, \"tickrate 60\"")
	f.StringVar(&p.binary, "binary", "../bin/tickrate", "our program")
	f.StringVar(&p.out, "out", "../report", "folder of peers.md and peers.json")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(usage)
		f.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q: expected flags alone", f.Arg(0))
	}
	return p, p.check(*sizes)
}

func (p *plan) check(sizes string) (err error) {
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 2 || n > 64 || slices.Contains(p.sizes, n) {
			return fmt.Errorf("-sizes %q: expected different numbers from 2 to 64", sizes)
		}
		p.sizes = append(p.sizes, n)
	}
	if p.turns < 1 || p.window < time.Second || p.warmup < 0 {
		return fmt.Errorf("expected -turns of at least 1, -window of at least 1s and no negative -warmup")
	}
	if p.socket != "gnet" && p.socket != "mmsg" {
		return fmt.Errorf("-socket %q: expected gnet or mmsg", p.socket)
	}
	if len(p.chosen()) == 0 {
		return fmt.Errorf("-only %q: expected text of one of %s", p.only, labels(sides))
	}
	if p.binary, err = filepath.Abs(p.binary); err != nil {
		return err
	}
	if _, err := os.Stat(p.binary); err != nil {
		return fmt.Errorf("our program: %w: make build makes it", err)
	}
	return nil
}

// chosen are the sides to measure.
func (p *plan) chosen() (chosen []side) {
	for _, s := range sides {
		if strings.Contains(s.label(), p.only) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

func labels(sides []side) string {
	var all []string
	for _, s := range sides {
		if l := s.label(); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return strings.Join(all, ", ")
}
