// The command plan: the search for the knee, the largest lobby that this machine carries within the
// service level. Flags go in; a report in a folder and a summary come out. bench/runner searches.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// planFlags are the flags of plan: the search for the knee.
type planFlags struct {
	scenarioFlags
	remote     planAgents
	capture    planCapture
	out        string        // folder of the report
	quick      bool          // shorter steps and a coarser knee
	json       bool          // lines of JSON instead of a table
	start, max int           // first and largest size: players, or lobbies; start 0 for an estimate
	repeat     int           // further measurements of the knee
	limit      time.Duration // no step begins later; 0 for the default
}

// newPlan returns the command plan, which searches for the knee, with its subcommands.
func newPlan() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Find how many players this machine carries, and why",
		Long: `plan starts a server process and a swarm of headless players on real UDP
sockets, and grows the lobby until the service level no longer holds. A scenario
may grow the number of lobbies in that process instead (duels, matches). It
measures the knee again and writes a report: index.html, plan.json and
bench.txt. The number of players in the headline is the largest that held in
every repeat. A plan that is interrupted or killed leaves a report of the steps
that it has finished.

With two processors or more, the server runs on the first and the swarm on the
others.

A scenario says what is played: a name (plan scenarios) or a TOML file. Flags
override its keys:

  tickrate plan --scenario duels
  tickrate plan --scenario mine.toml --slo 'p99(tick)<0.5*period && lost(input)==0 && kbps(down)<512'
  tickrate plan predict --scenario mine.toml --concurrent 20000 --prices examples/plan/prices.toml

With --agents, the players are on other machines, where tickrate swarm agent
runs; a step waits for that many.

A service level is comparisons joined by &&. Names: ` + slo.Help,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return plan(c, f) },
	}
	c.AddCommand(newPredict(), newVerify(), newScenarios(), newSockets())
	f.register(c)
	f.remote.register(c)
	f.capture.register(c.Flags())
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "report", "`folder` for the report")
	fl.BoolVar(&f.quick, "quick", false, "end within a minute: shorter steps, a coarser knee")
	fl.BoolVar(&f.json, "json", false, "print lines of JSON: one for each step, then the knee")
	fl.IntVar(&f.start, "start", 0,
		"`number` of players in the first lobby, or of lobbies where the scenario grows those; default "+
			"the scenario's, or the estimate of a simulated lobby")
	fl.IntVar(&f.max, "max", 0, "largest `number` to try; default the scenario's")
	fl.IntVar(&f.repeat, "repeat", 0, "further `measurements` of the knee; default the scenario's, 2")
	fl.DurationVar(&f.limit, "limit", 0, "`time` after which no step begins; default 85s, quick 40s")
	return c
}

// defaults fills in the values that depend on --quick, on the scenario and on other flags, and
// checks the resulting scenario.
func (f *planFlags) defaults(c *cobra.Command) error {
	typed := c.Flags().Changed
	if f.quick && !typed("duration") {
		f.s.Measure.Duration = quickDuration
	}
	if f.quick && !typed("warmup") {
		f.s.Measure.Warmup = quickWarmup
	}
	if typed("repeat") {
		f.s.Measure.Repeat = f.repeat
	}
	if f.limit < 0 {
		return fmt.Errorf("--limit %v: expected a positive duration", f.limit)
	}
	if f.limit == 0 {
		f.limit = 85 * time.Second
		if f.quick {
			f.limit = 40 * time.Second
		}
	}
	if typed("max") {
		f.s.Lobby.Most = f.max
	} else {
		f.max = max(f.s.Lobby.Most, f.start)
		f.s.Lobby.Most = f.max
	}
	switch {
	case typed("start"):
		f.s = f.s.At(f.start) // the size that was asked for
	case typed("scenario") || f.s.Lobby.Grow == "lobbies":
		f.start = min(f.s.Size(), f.max)
		f.s = f.s.At(f.start)
	default: // f.start stays 0: the runner estimates it by a simulated lobby
		f.s = f.s.At(min(f.s.Size(), f.max))
	}
	return byFlag(c, f.s.Check())
}

// savePlan writes a report into the folder dir. One without steps does not replace an earlier one: a
// plan that is interrupted at once must not cost a good report.
func savePlan(dir string, p report.Plan) error {
	if len(p.Steps) == 0 {
		if _, err := os.Stat(filepath.Join(dir, report.PlanFile)); err == nil {
			return nil
		}
	}
	return report.Write(dir, p)
}

// plan runs the search and prints a summary. The runner saves the report after every step, so that
// an interrupted search leaves the finished ones.
func plan(c *cobra.Command, f planFlags) error {
	err := f.load(c)
	if err == nil {
		err = f.defaults(c)
	}
	if err == nil {
		err = f.capture.check()
	}
	if err != nil {
		return usage.Error(err)
	}
	out := newScreen(c.OutOrStdout(), f.json)
	live, err := f.config(c, out)
	if err != nil {
		return err
	}
	live.Captures = f.capture.captures()
	end, err := f.remote.open(c, &f.scenarioFlags, out, &live)
	if err != nil {
		return err
	}
	defer end()
	cfg := runner.PlanConfig{
		Start: f.start, Max: f.max, Limit: f.limit, Commit: version,
		Command: "tickrate " + strings.Join(os.Args[1:], " "),
		Save:    func(p report.Plan) error { return savePlan(f.out, p) },
	}
	if f.quick {
		cfg.Tolerance = 0.15
	}
	// A search that is interrupted returns what it has, with Partial set.
	p, err := runner.New(live).Plan(c.Context(), cfg)
	out.clear()
	if err != nil {
		return err
	}
	p = p.Clean()
	if f.json {
		return json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"version": report.Version,
			"knee": p.Knee, "repeats": p.Repeats, "units": p.Units, "games": p.Games,
			"partial": p.Partial, "report": f.out})
	}
	printPlan(c.OutOrStdout(), f.out, p)
	f.capture.print(c.OutOrStdout(), p)
	return nil
}
