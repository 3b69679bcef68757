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
same scenario live with a server process and a swarm on real sockets, and prints
predicted beside measured.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return verify(c, f) },
	}
	f.register(c)
	sizeFlags(c, &f.size, &f.repeats)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// verify predicts the opening of the scenario, then measures it live at the same size. A missed
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
	step, err := r.Step(c.Context(), f.s.Total())
	out.clear()
	if err != nil {
		return err
	}
	if step.Fault != "" {
		return fmt.Errorf("the live run failed: %s", step.Fault)
	}
	verdicts := p.Judge(step)
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"version": simbench.PredictionVersion, "prediction": p,
			"measured": step, "verdicts": verdicts})
	}
	printVerdicts(c.OutOrStdout(), p, step, verdicts)
	return nil
}

// printVerdicts prints each predicted value beside the measured one, with the error and the bound
// that it should stay within, and then the stages that take at least 2 % of a tick.
func printVerdicts(w io.Writer, p simbench.Prediction, live measure.Step, all []simbench.Verdict) {
	s := p.Scenario
	fmt.Fprintf(w, "%s: %s of %s, predicted from %s, measured live for %.1f s\n", s.Name,
		several(s.Lobby.Lobbies, "lobby"), several(s.Lobby.Players, "player"),
		several(p.Repeats, "match"), live.Duration.Seconds())
	for _, v := range all {
		within := "within"
		if !v.Within() {
			within = "MISSED, expected within"
		}
		fmt.Fprintf(w, "  %-44s predicted %10.4g ± %.2g, measured %10.4g %s: %+.1f %% (%s %.0f %%)\n", v.Of,
			v.Predicted, v.StdErr, v.Measured, v.Unit, 100*v.Error(), within, 100*v.Wanted)
	}
	// Stages below 2 % of the tick are noise on both sides.
	fmt.Fprintln(w, "  by stage, µs a tick:")
	for _, st := range p.Windows[0].Stages {
		for _, m := range live.StageCPUMicros {
			if m.Name == st.Name && max(m.Mean, st.Mean) >= 0.02*p.Windows[0].TickMicros.Mean {
				fmt.Fprintf(w, "    %-11s predicted %8.1f ± %5.1f, measured %8.1f: %+.1f %%\n", st.Name,
					st.Mean, st.StdErr, m.Mean, 100*(st.Mean/m.Mean-1))
			}
		}
	}
	if live.Void {
		fmt.Fprintf(w, "  VOID: %s; the live run is worth nothing\n", live.VoidReason)
	}
}
