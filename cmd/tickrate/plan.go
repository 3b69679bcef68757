// The command plan: the search for the knee, the largest lobby that this machine carries within the
// service level. Flags go in; a report in a folder and a summary come out. bench/runner searches.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/search"
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
	sizes      []int         // to measure in place of a search; none for a search
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
writes a report: index.html, plan.json and bench.txt. All steps go into one
estimate of the knee, with an interval that holds it nine times of ten. A plan that is interrupted or killed leaves a report of the steps
that it has finished.

With two processors or more, the server runs on the first and the swarm on the
others.

A scenario says what is played: a name (plan scenarios) or a TOML file. Flags
override its keys:

  tickrate plan --scenario duels
  tickrate plan --scenario mine.toml --slo 'p99(tick)<8ms && kbps(down)<512'
  tickrate plan predict --scenario mine.toml --prices examples/plan/prices.toml

With --sizes, the plan measures the sizes that you name, each as often as
--repeat says, and searches nothing: lines of bench.txt then have the same
names in every run, for benchstat, which wants six measurements: one and five repeats.

  tickrate plan --sizes 200,400 --repeat 5 --out new
  benchstat -ignore commit old/bench.txt new/bench.txt

With --agents, the players are on other machines, where tickrate swarm agent
runs; a step waits for that many.

A service level is comparisons joined by && and ||. Names:
` + slo.Help + `

Exit codes:
  0  the knee was found, or the largest size, or each of --sizes, held
  1  the command failed
  2  the command line or a file named on it is wrong
  3  the service level failed: no size held it, or one of --sizes did not
  4  void: every step, or every measurement of one of --sizes
  5  interrupted by a signal; the report has the finished steps
  6  out of time (--limit) before the knee had an interval, or before all --sizes`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return plan(c, f) },
	}
	c.AddCommand(newPredict(), newVerify(), newScenarios(), newSockets(), newCheck())
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
	fl.IntSliceVar(&f.sizes, "sizes", nil, "`numbers` of players, or of lobbies where the scenario grows "+
		"those, to measure in place of a search, such as 200,400,800")
	fl.IntVar(&f.repeat, "repeat", 0,
		"further `measurements` of each of --sizes; default the scenario's, 2")
	fl.DurationVar(&f.limit, "limit", 0,
		"`time` after which no step begins; default 100s, quick 45s, none with --sizes")
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
	if typed("sizes") {
		return f.takeSizes(c)
	}
	if f.limit == 0 {
		f.limit = 100 * time.Second
		if f.quick {
			f.limit = 45 * time.Second
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

// takeSizes checks --sizes and puts them in order. The scenario gets the largest one.
func (f *planFlags) takeSizes(c *cobra.Command) error {
	for _, flag := range []string{"start", "max"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--sizes and --%s: expected one of them", flag)
		}
	}
	slices.Sort(f.sizes)
	f.sizes = slices.Compact(f.sizes)
	for _, n := range f.sizes {
		f.s = f.s.At(n)
		f.s.Lobby.Most = max(f.s.Lobby.Most, n)
		var broken *scenario.Error
		switch err := f.s.Check(); {
		case errors.As(err, &broken) && slices.Contains(flagsOf[broken.Key], "start"):
			return fmt.Errorf("--sizes: %d: expected %s", n, broken.Want)
		case err != nil:
			return byFlag(c, err)
		}
	}
	return nil
}

// planSaver writes the reports of a plan into a folder. A report of an earlier plan stays until this
// one has a measurement, or has come to its end: a plan that is interrupted at once must not cost a
// good report.
type planSaver struct {
	dir     string
	earlier bool // the folder has the report of an earlier plan
}

// newPlanSaver looks for the report of an earlier plan.
func newPlanSaver(dir string) *planSaver {
	_, err := os.Stat(filepath.Join(dir, report.PlanFile))
	return &planSaver{dir: dir, earlier: err == nil}
}

// save writes what there is so far.
func (s *planSaver) save(p report.Plan) error {
	if s.earlier && p.Partial && p.Voids() == len(p.Steps) {
		return nil
	}
	err := report.Write(s.dir, p)
	s.earlier = s.earlier && err != nil
	return err
}

// kneeLine is the last line of plan --json.
type kneeLine struct {
	Type    string             `json:"type"`
	Version int                `json:"version"`
	Knee    search.Knee        `json:"knee"`
	Near    *report.Near       `json:"near_knee"`
	Units   []measure.UnitCost `json:"units"`
	Games   *report.Games      `json:"games"`
	Floor   *report.Floor      `json:"floor,omitempty"`
	Partial bool               `json:"partial"`
	Report  string             `json:"report"` // folder
}

// plan runs the search and prints a summary. The runner saves the report after every step, so that
// an interrupted search leaves the finished ones.
func plan(c *cobra.Command, f planFlags) error {
	err := f.load(c)
	if err == nil {
		err = f.defaults(c)
	}
	if err == nil {
		err = f.at(c, "slo", "measure.slo", impossible(f.s, f.objective))
	}
	if err == nil {
		_, err = f.capture.check()
	}
	if err != nil {
		return usage.Error(err)
	}
	out := newScreen(c.OutOrStdout(), f.json)
	live, err := f.config(c, out)
	if err != nil {
		return err
	}
	live.Captures, live.Floor = f.capture.captures(), true
	end, err := f.remote.open(c, &f.scenarioFlags, out, &live)
	if err != nil {
		return err
	}
	defer end()
	saver := newPlanSaver(f.out)
	cfg := runner.PlanConfig{
		Start: f.start, Max: f.max, Sizes: f.sizes, Limit: f.limit, Commit: version,
		Command: "tickrate " + strings.Join(os.Args[1:], " "),
		Save:    saver.save,
	}
	if f.quick {
		cfg.Tolerance = 0.1
	}
	// A search that is interrupted returns what it has, with Partial set.
	p, err := runner.New(live).Plan(c.Context(), cfg)
	out.clear()
	if err != nil {
		return err
	}
	p = p.Clean()
	if f.json {
		err := json.NewEncoder(c.OutOrStdout()).Encode(kneeLine{"knee", report.Version, p.Knee, p.Near,
			p.Units, p.Games, p.Floor, p.Partial, f.out})
		return errors.Join(err, outcome(p))
	}
	printPlan(&wrapper{w: c.OutOrStdout()}, p)
	printReportPath(c.OutOrStdout(), f.out, saver.earlier)
	f.capture.print(c.OutOrStdout(), p)
	return outcome(p)
}
