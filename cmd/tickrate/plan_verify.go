// The command plan verify: a prediction beside a live run of the same scenario on the same machine.

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// verifyFlags are the flags of plan verify.
type verifyFlags struct {
	scenarioFlags
	size    int // players of a lobby, or lobbies; 0 for the scenario's
	repeats int // matches to simulate
	json    bool
}

// newVerify returns the command plan verify, which tests predictions against a live run.
func newVerify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify",
		Short: "Predict a scenario, run it live, and print the error",
		Long: `verify predicts the opening of a scenario as plan predict does, then runs the
same scenario live with a server process and a swarm on real sockets, each match
once with the same seed. It prints means and standard errors of both, and the
error. A number behind ">" is the error in percent that was missed.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return verify(c, f) },
	}
	f.register(c)
	sizeFlags(c, &f.size, &f.repeats)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// verify predicts the opening of the scenario, then measures the same matches live. A missed
// prediction is printed and is no error.
func verify(c *cobra.Command, f verifyFlags) error {
	if err := f.sized(c, f.size, f.repeats); err != nil {
		return usage.Error(err)
	}
	out := newScreen(c.OutOrStdout(), f.json)
	cfg, err := f.config(c, out)
	if err != nil {
		return err
	}
	// A live step measures the opening of a match, so only that is predicted.
	p, r, err := runner.Predict(c.Context(), cfg, runner.PredictConfig{Repeats: f.repeats, Opening: true,
		Commit: version})
	if err != nil {
		return err
	}
	live := liveRuns{times: f.repeats}
	live.steps, live.voids, live.why, err = r.Repeat(c.Context(), f.repeats)
	out.clear()
	if err != nil {
		return err
	}
	verdicts := p.Judge(live.steps)
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"type": "verification", "version": simbench.PredictionVersion, "prediction": p,
			"measured": live.steps, "void": live.voids, "verdicts": verdicts})
	}
	printVerdicts(&wrapper{w: c.OutOrStdout()}, p, live, verdicts)
	return nil
}

// liveRuns are the live runs of a verification.
type liveRuns struct {
	times int
	steps []measure.Step // those that are not void, or all if every run is
	voids int            // void runs
	why   string         // reason of the last void run
}

// printVerdicts prints each predicted value beside the measured one and the error, within 80
// columns, and then the stages that take at least 2 % of a tick. An error beyond its bound has the
// bound after it.
func printVerdicts(w io.Writer, p simbench.Prediction, live liveRuns, all []simbench.Verdict) {
	s := p.Scenario
	fmt.Fprintf(w, "%s: %s of %s\npredicted from %s; measured live in %s of %.0f s\n\n", s.Name,
		several(s.Lobby.Lobbies, "lobby"), several(s.Lobby.Players, "player"), several(p.Repeats, "match"),
		several(live.times, "run"), live.steps[0].Duration.Seconds())
	const line = "%-32s %9.4g ± %-6.2g %9.4g ± %-6.2g %+6.1f %%%s\n"
	fmt.Fprintf(w, "%-32s %18s %18s %8s\n", "", "predicted", "measured", "error")
	for _, v := range all {
		wanted := fmt.Sprintf(" > %.0f", 100*v.Wanted)
		if v.Within() {
			wanted = ""
		}
		fmt.Fprintf(w, line, v.Of+", "+v.Unit, v.Predicted.Mean, v.Predicted.StdErr, v.Measured.Mean,
			v.Measured.StdErr, 100*v.Error(), wanted)
	}
	// Stages below 2 % of the tick are noise on both sides.
	fmt.Fprintln(w, "stages, ms a tick:")
	for _, st := range p.Windows[0].Stages {
		var values []float64
		for _, step := range live.steps {
			for _, m := range step.StageCPUMillis {
				if m.Name == st.Name {
					values = append(values, m.Mean)
				}
			}
		}
		m := measure.EstimateOf(values)
		if m.Mean > 0 && max(m.Mean, st.Mean) >= 0.02*p.Windows[0].TickMillis.Mean {
			fmt.Fprintf(w, line, "  "+st.Name, st.Mean, st.StdErr, m.Mean, m.StdErr,
				100*(st.Mean/m.Mean-1), "")
		}
	}
	switch {
	case live.voids == live.times:
		fmt.Fprintf(w, "VOID, every live run: %s\n", live.why)
	case live.voids > 0:
		fmt.Fprintf(w, "%s left out as void: %s\n", several(live.voids, "live run"), live.why)
	}
}
