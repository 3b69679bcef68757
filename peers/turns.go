//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/tickrate/tickrate/internal/clock"
)

// measurer plays one turn of a side with a number of players.
type measurer func(ctx context.Context, s side, players int) (figures, error)

// run measures each side in each turn, and writes what came out.
func (p *plan) run(ctx context.Context) error {
	if all := clock.CPUs(); len(all) > 1 {
		p.servers = all[:1]
		if err := clock.SetProcessAffinity(all[1:]); err != nil {
			p.servers = nil
		}
	}
	debug.SetGCPercent(800) // the clients keep little and make much; collecting makes their sends late
	raisePriority()
	r := newReport(p)
	if err := p.play(ctx, os.Stdout, r, p.measure); err != nil {
		return err
	}
	if err := r.write(os.Stdout, p.out); err != nil {
		return err
	}
	if n := r.missing(); n > 0 {
		return fmt.Errorf("%d of %d rows have no figures, as all of their turns are void", n, len(r.Rows))
	}
	return nil
}

// raisePriority gives all threads of this process, and so the programs that it starts, priority
// over others where it may, as root does. Else the sends of clients are late on a busy machine.
func raisePriority() {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		if id, err := strconv.Atoi(task.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, -10)
		}
	}
}

// play adds all turns to the report, the sides in alternation, and tells of each on w. A void turn
// is repeated once; where that is void as well, the report has it as void.
func (p *plan) play(ctx context.Context, w io.Writer, r *report, measure measurer) error {
	for turn := range p.turns {
		for _, n := range p.sizes {
			for _, s := range p.chosen() {
				for again := range 2 {
					f, err := measure(ctx, s, n)
					if ctx.Err() != nil {
						return ctx.Err()
					}
					if err != nil {
						return fmt.Errorf("%s with %d players: %w", s.label(), n, err)
					}
					if f.Void != "" && again == 0 {
						fmt.Fprintf(w, "turn %d, %2d players: %-15s void, once more: %s\n", turn+1, n, s.label(), f.Void)
						r.Repeats++
						continue
					}
					fmt.Fprintf(w, "turn %d, %2d players: %-15s %s\n", turn+1, n, s.label(), f.outcome())
					r.add(s, n, f)
					break
				}
			}
		}
	}
	return nil
}

// outcome is what a turn showed, in short.
func (f *figures) outcome() string {
	if f.Void != "" {
		return "void: " + f.Void
	}
	return fmt.Sprintf("%5.1f %% of a core", 100*f.Cores)
}
