// The captures of plan: their flags, and what the summary says of them.

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// captureFlags are the flags of captures, of serve and of plan.
type captureFlags struct {
	dir  string // folder; "" for none
	when string // limit of a tick; "" for the deadline alone
	most int    // captures in the folder
}

// register adds the flags. dir and when are the help of --capture and --capture-when.
func (f *captureFlags) register(fl *pflag.FlagSet, dir, when string) {
	fl.StringVar(&f.dir, "capture", "", "`folder` that gets a folder for a tick that "+dir+"; default none")
	fl.StringVar(&f.when, "capture-when", "", "`limit` above which a tick is captured too, "+when+"; default none")
	fl.IntVar(&f.most, "capture-most", 20, "most `captures` in the folder of --capture, those of earlier "+
		"runs included; 0 for none, as without --capture")
}

// check refuses flags that contradict each other. when is nil for the deadline alone.
func (f *captureFlags) check() (when *slo.TickLimit, err error) {
	switch {
	case f.most < 0:
		return nil, usage.Errorf("--capture-most %d: expected 1 or more, or 0 for none", f.most)
	case f.dir == "" && f.when != "":
		return nil, usage.Error(errors.New("--capture-when: expected a folder with --capture"))
	case f.when == "":
		return nil, nil
	}
	if when, err = slo.CompileTick(f.when); err != nil {
		return nil, usage.Errorf("--capture-when: %w", err)
	}
	return when, nil
}

// planCapture are the captures of steps that fail.
type planCapture struct{ captureFlags }

// register adds the flags.
func (p *planCapture) register(fl *pflag.FlagSet) {
	p.captureFlags.register(fl, "missed its deadline in a step that fails, one for each server process at most, "+
		"as of serve --capture", "as of serve")
}

// captures is for a runner; nil: nothing is captured.
func (p *planCapture) captures() *runner.Captures {
	if p.dir == "" || p.most == 0 {
		return nil
	}
	return &runner.Captures{Dir: p.dir, When: p.when, Most: p.most}
}

// print says which ticks were captured, and why they were late.
func (p *planCapture) print(w io.Writer, plan report.Plan) {
	for _, s := range plan.Steps {
		for _, c := range s.Captures {
			printWrapped(w, fmt.Sprintf("captured at %s: %s", plan.Growth(s.Players), c.Cause))
			fmt.Fprintf(w, "  %s\n", filepath.Join(p.dir, c.Folder))
		}
	}
}
