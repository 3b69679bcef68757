// The hidden command plan check: predictions of scenarios drawn at random beside live runs, to find how
// far predictions are off and whether their intervals hold. make predict-check runs it.

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// checkFlags are the flags of plan check.
type checkFlags struct {
	seed    uint64
	count   int
	builtIn bool // the scenarios of this build, too
	repeats int  // matches of each scenario
	prices  string
}

// newCheck returns the hidden command plan check.
func newCheck() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:    "check",
		Short:  "Check predictions of scenarios drawn at random against live runs",
		Hidden: true,
		Args:   usage.NoArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return f.check(c) },
	}
	fl := c.Flags()
	fl.Uint64Var(&f.seed, "seed", 1, "`seed` of the draw; 1 to 5 were looked at while the model was made")
	fl.IntVar(&f.count, "count", 10, "`number` of scenarios to draw")
	fl.BoolVar(&f.builtIn, "built-in", true, "check the scenarios of this build, too")
	fl.IntVar(&f.repeats, "repeats", 1, "`matches` of each scenario, 1 to 100")
	fl.StringVar(&f.prices, "prices", "", "TOML `file` of a host, as of plan predict; default a free one")
	return c
}

// tally is the errors of one quantity over scenarios.
type tally struct {
	of                  string
	wanted              float64
	n, within, held     int
	sum, absolute, most float64 // of errors
}

// add counts a verdict.
func (t *tally) add(v simbench.Verdict) {
	t.of, t.wanted = v.Of, v.Wanted
	t.n++
	if v.Within() {
		t.within++
	}
	if v.Held() {
		t.held++
	}
	t.sum += v.Error()
	t.absolute += math.Abs(v.Error())
	t.most = max(t.most, math.Abs(v.Error()))
}

// addTo counts a verdict in the tally of its quantity.
func addTo(all []tally, v simbench.Verdict) []tally {
	i := slices.IndexFunc(all, func(t tally) bool { return t.of == v.Of })
	if i < 0 {
		i, all = len(all), append(all, tally{})
	}
	all[i].add(v)
	return all
}

// check predicts and runs the drawn scenarios, then those of this build, and prints the errors of each
// and of both kinds together.
func (f *checkFlags) check(c *cobra.Command) error {
	if f.count < 0 || f.count > 1000 || f.repeats < 1 || f.repeats > 100 {
		return usage.Errorf("--count %d, --repeats %d: expected 0 to 1000 scenarios, 1 to 100 matches", f.count,
			f.repeats)
	}
	var drawn, builtIn []scenario.Scenario
	for i := range f.count {
		drawn = append(drawn, simbench.Draw(f.seed, i))
	}
	if f.builtIn {
		builtIn = simbench.BuiltIn()
	}
	for _, kind := range []struct {
		name string
		all  []scenario.Scenario
	}{{fmt.Sprintf("drawn with seed %d", f.seed), drawn}, {"built in", builtIn}} {
		if err := f.checkAll(c, kind.name, kind.all); err != nil {
			return err
		}
	}
	return nil
}

// checkAll checks the scenarios of one kind.
func (f *checkFlags) checkAll(c *cobra.Command, kind string, all []scenario.Scenario) error {
	w := c.OutOrStdout()
	var tallies []tally
	voids := 0
	for _, s := range all {
		began := time.Now()
		verdicts, why, err := f.one(c, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprintf(w, "%s: %d x %d players, %d Hz every %d, %s, %s, %s, %s", s.Name, s.Lobby.Lobbies,
			s.Lobby.Players, s.Rates.TickHz, s.Every(), s.Lobby.Map, s.Network.Link, s.Network.Codec, s.Network.Socket)
		if s.Lobby.ProcessPerLobby {
			fmt.Fprint(w, ", a process for each")
		}
		fmt.Fprintf(w, "; %.0f s\n", time.Since(began).Seconds())
		for _, v := range verdicts {
			printChecked(w, v)
			if why == "" {
				tallies = addTo(tallies, v)
			}
		}
		if why != "" {
			fmt.Fprintf(w, "  VOID, not counted: %s\n", why)
			voids++
		}
	}
	if len(tallies) > 0 {
		printTallies(w, kind, tallies, voids)
	}
	return nil
}

// one predicts a scenario and runs it live. why says that every live run was void; "": one was not.
func (f *checkFlags) one(c *cobra.Command, s scenario.Scenario) (all []simbench.Verdict, why string, err error) {
	prices, err := readPrices(f.prices)
	if err != nil {
		return nil, "", err
	}
	var flags scenarioFlags
	if err := flags.use(s); err != nil {
		return nil, "", err
	}
	out := newScreen(c.OutOrStdout(), false)
	cfg, err := flags.config(c, out)
	if err != nil {
		return nil, "", err
	}
	p, live, err := predictAndRun(c.Context(), cfg, f.repeats)
	out.clear()
	if err != nil {
		return nil, "", err
	}
	if live.voids == live.times {
		why = live.why
	}
	return p.Judge(live.steps, prices, flags.demand(verifiedPlayers, 0.3)), why, nil
}

// printChecked prints a verdict in a line.
func printChecked(w io.Writer, v simbench.Verdict) {
	fmt.Fprintf(w, verdictRow, "  "+quantity(v), short(v.Predicted.Mean),
		short(v.Predicted.Low)+" to "+short(v.Predicted.High), short(v.Measured.Mean),
		fmt.Sprintf("%+.1f %%", 100*v.Error()), marks(v))
}

// printTallies prints the errors over all scenarios of a kind.
func printTallies(w io.Writer, kind string, all []tally, voids int) {
	fmt.Fprintf(w, "\n%s, %d void:\n%-28s %8s %8s %8s %14s %10s\n", kind, voids, "", "mean", "|mean|", "most",
		"within", "held")
	for _, t := range all {
		n := float64(t.n)
		fmt.Fprintf(w, "%-28s %+6.1f %% %6.1f %% %6.1f %% %4d of %d (%.0f %%) %4d of %d\n", t.of, 100*t.sum/n,
			100*t.absolute/n, 100*t.most, t.within, t.n, 100*t.wanted, t.held, t.n)
	}
	fmt.Fprintln(w)
}
