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
)

// planCapture are the flags of the captures of steps that fail.
type planCapture struct {
	dir  string // folder; "" for none
	when string // limit of a tick; "" for the deadline alone
	most int    // captures in the folder
}

// register adds the flags.
func (p *planCapture) register(fl *pflag.FlagSet) {
	fl.StringVar(&p.dir, "capture", "", "`folder` that gets a folder for a tick that missed its deadline in a "+
		"step that fails, one for each server process at most, as of serve --capture; default none")
	fl.StringVar(&p.when, "capture-when", "", "`limit` above which a tick is captured too, as of serve; default none")
	fl.IntVar(&p.most, "capture-most", 20, "most `captures` in the folder of --capture, those of earlier "+
		"runs included; 0 for none, as without --capture")
}

// check refuses flags that contradict each other. Its errors are of use.
func (p *planCapture) check() error {
	switch {
	case p.most < 0:
		return fmt.Errorf("--capture-most %d: expected 1 or more, or 0 for none", p.most)
	case p.dir == "" && p.when != "":
		return errors.New("--capture-when: expected a folder with --capture")
	case p.when == "":
		return nil
	}
	if _, err := slo.CompileTick(p.when); err != nil {
		return fmt.Errorf("--capture-when: %w", err)
	}
	return nil
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
