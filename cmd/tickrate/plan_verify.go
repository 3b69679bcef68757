// The command plan verify: a prediction beside a live run of the same scenario on the same machine.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

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
	size    int    // players of a lobby, or lobbies; 0 for the scenario's
	repeats int    // matches to simulate
	prices  string // TOML file; empty for a free host
	json    bool
}

// newVerify returns the command plan verify, which tests predictions against a live run.
func newVerify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify",
		Short: "Predict a scenario, run it live, and print the error",
		Long: `verify predicts the opening of a scenario as plan predict does, then runs the
same scenario live with server processes and a swarm on real sockets, each match
once with the same seed. It prints the prediction with its interval beside what was
measured, and the error. ">" marks an error beyond what is wanted (10 % of cores
and CPU, 3 % of bytes, 15 % of memory, hosts and money), and "o" a measurement
outside the interval.`,
		Args: assets.MoreTraces(&f.traces),
		RunE: func(c *cobra.Command, _ []string) error { return verify(c, f) },
	}
	f.register(c)
	sizeFlags(c, &f.size, &f.repeats)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.Flags().StringVar(&f.prices, "prices", "", "TOML `file` of a host, as of plan predict; default a free one")
	return c
}

// verifiedPlayers is the number of players at a time whose hosts verify compares.
const verifiedPlayers = 100000

// verify predicts the opening of the scenario, then measures the same matches live. A missed
// prediction is printed and is no error.
func verify(c *cobra.Command, f verifyFlags) error {
	if err := f.sized(c, f.size, f.repeats); err != nil {
		return usage.Error(err)
	}
	prices, err := readPrices(f.prices)
	if err != nil {
		return err
	}
	out := newScreen(c.OutOrStdout(), f.json)
	cfg, err := f.config(c, out)
	if err != nil {
		return err
	}
	p, live, err := predictAndRun(c.Context(), cfg, f.repeats)
	out.clear()
	if err != nil {
		return err
	}
	verdicts := p.Judge(live.steps, prices, f.demand(verifiedPlayers, 0.3))
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"type": "verification", "version": simbench.PredictionVersion, "prediction": p,
			"measured": live.steps, "void": live.voids, "verdicts": verdicts})
	}
	printVerdicts(&wrapper{w: c.OutOrStdout()}, p, live, verdicts)
	return nil
}

// predictAndRun predicts the opening of a scenario, which is what a live step measures, and runs the
// same matches live.
func predictAndRun(ctx context.Context, cfg runner.Config, repeats int) (p simbench.Prediction,
	live liveRuns, err error) {
	p, r, err := runner.Predict(ctx, cfg, runner.PredictConfig{Repeats: repeats, Opening: true,
		Commit: version})
	if err != nil {
		return p, live, err
	}
	live.times = repeats
	live.steps, live.voids, live.why, err = r.Repeat(ctx, repeats)
	return p, live, err
}

// liveRuns are the live runs of a verification.
type liveRuns struct {
	times int
	steps []measure.Step // those that are not void, or all if every run is
	voids int            // void runs
	why   string         // reason of the last void run
}

// quantity names what a verdict is about, with its unit.
func quantity(v simbench.Verdict) string {
	if v.Unit == "" {
		return v.Of
	}
	return v.Of + ", " + v.Unit
}

// verdictRow is a row of a table of predictions, which fits 80 columns.
const verdictRow = "%-22s %9s %17s %17s %8s%s\n"

// short formats a number with four significant digits, without an exponent.
func short(x float64) string { return digits(x, 4) }

// digits formats a number with n significant digits, without an exponent.
func digits(x float64, n int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// marks are what is to be said of a verdict's error.
func marks(v simbench.Verdict) (all string) {
	if !v.Within() {
		all += " >"
	}
	if !v.Held() {
		all += " o"
	}
	return all
}

// printVerdicts prints each predicted value beside the measured one and the error, and then the stages that
// take at least 2 % of a tick.
func printVerdicts(w io.Writer, p simbench.Prediction, live liveRuns, all []simbench.Verdict) {
	s := p.Scenario
	fmt.Fprintf(w, "%s: %s of %s\npredicted from %s; measured live in %s of %.0f s\n\n", s.Name,
		several(s.Lobby.Lobbies, "lobby"), several(s.Lobby.Players, "player"), several(p.Repeats, "match"),
		several(live.times, "run"), live.steps[0].Duration.Seconds())
	fmt.Fprintf(w, verdictRow, "", "predicted", "90 % interval", "measured", "error", "")
	for _, v := range all {
		fmt.Fprintf(w, verdictRow, quantity(v), short(v.Predicted.Mean),
			short(v.Predicted.Low)+" to "+short(v.Predicted.High),
			short(v.Measured.Mean)+plusMinus(v.Measured), fmt.Sprintf("%+.1f %%", 100*v.Error()),
			marks(v))
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
			fmt.Fprintf(w, verdictRow, "  "+st.Name, short(st.Mean), "",
				short(m.Mean)+plusMinus(m), fmt.Sprintf("%+.1f %%", 100*(st.Mean/m.Mean-1)), "")
		}
	}
	switch {
	case live.voids == live.times:
		fmt.Fprintf(w, "VOID, every live run: %s\n", live.why)
	case live.voids > 0:
		fmt.Fprintf(w, "%s left out as void: %s\n", several(live.voids, "live run"), live.why)
	}
}
