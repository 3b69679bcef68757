package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/scenario"
)

// newCalibrate is plan's subcommand that measures what a model is fitted to.
func newCalibrate() *cobra.Command {
	var out string
	var plays int
	var seconds float64
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure what predictions rest on: lobbies of many kinds in virtual time",
		Long: `calibrate plays lobbies of different sizes, rates, spreads and fire in virtual time, measures the CPU time of their ticks by stage
(the least of several plays of each tick, which are the same work) and writes them to a file for plan --predict. One in three is
held out: no model is fitted to it, and its error is what the model's is. Interrupted, it writes what it has; called again with the
same file, it goes on.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return calibrate(c, out, plays, seconds) },
	}
	c.Flags().StringVar(&out, "out", "measured.json", "`file` to write")
	c.Flags().IntVar(&plays, "plays", 2, "`times` that each tick is played, 1 to 100")
	c.Flags().Float64Var(&seconds, "seconds", 4, "virtual `seconds` to measure of each match, 0.5 to 60")
	return c
}

// lesson is one scenario of a calibration.
type lesson struct {
	players int
	hz      int
	every   int
	change  func(*scenario.Scenario)
	held    bool // no model is fitted to it
}

// lessons are sizes, rates, spreads and fire; what is held out lies between what is not.
func lessons() (all []lesson) {
	add := func(held bool, hz, every int, change func(*scenario.Scenario), sizes ...int) {
		for _, n := range sizes {
			all = append(all, lesson{n, hz, every, change, held})
		}
	}
	bursts := func(x float64) func(*scenario.Scenario) { return func(s *scenario.Scenario) { s.Play.Bursts = x } }
	spread := func(x float64) func(*scenario.Scenario) { return func(s *scenario.Scenario) { s.Lobby.Spread = x } }
	both := func(x, y float64) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { s.Lobby.Spread, s.Play.Bursts = x, y }
	}
	add(false, 60, 3, nil, 10, 16, 24, 32, 64, 96, 128, 192, 256, 320)
	add(true, 60, 3, nil, 20, 48, 80, 160, 224)
	add(false, 128, 2, nil, 10, 16, 32, 64, 128)
	add(true, 128, 2, nil, 12, 24, 48, 96)
	add(false, 128, 6, nil, 10, 32, 96, 192)
	add(true, 128, 6, nil, 20, 64, 144)
	add(true, 60, 2, nil, 48, 96)
	add(true, 128, 4, nil, 32, 80)
	add(false, 30, 1, nil, 16, 64, 192)
	add(true, 30, 1, nil, 32, 128)
	add(false, 60, 6, nil, 32, 128, 256)
	add(true, 60, 6, nil, 64, 192)
	add(false, 60, 3, bursts(0), 32, 128, 256)
	add(false, 60, 3, bursts(1), 32, 128, 256)
	add(true, 60, 3, bursts(0.5), 64, 192)
	add(false, 60, 3, spread(4), 16, 64, 128, 192)
	add(true, 60, 3, spread(2), 32, 96, 192)
	add(true, 60, 3, both(3, 0.4), 128)
	far := func(x, y float64) func(*scenario.Scenario) {
		return func(s *scenario.Scenario) { s.Lobby.FarMetres, s.Lobby.Spread = x, y }
	}
	add(false, 60, 3, far(25, 1), 64, 128, 256)
	add(false, 60, 3, far(40, 1), 96, 192)
	add(false, 60, 3, far(25, 3), 64, 192)
	add(false, 128, 6, far(30, 1), 64, 192)
	add(true, 60, 3, far(30, 1), 96, 192)
	add(true, 60, 3, far(35, 2), 128)
	hot := func(x float64) func(*scenario.Scenario) { return func(s *scenario.Scenario) { s.Play.HotSpot = x } }
	add(false, 60, 3, hot(1), 32, 128, 256)
	add(true, 60, 3, hot(0.5), 64, 192)
	add(true, 128, 2, both(2, 0.5), 32)
	return all
}

// seedsFor is how many matches of so many players tell what one costs on average: the fewer they are, the more one match differs from
// the next.
func seedsFor(players int) int { return min(max(800/players, 2), 16) }

// settle has a match warmed up as measurements are: for two seconds, when all are in and alive. Later, players die and come back in waves,
// each match in its own, and cost a third less.
func settle(s *scenario.Scenario) { s.Measure.WarmSeconds = 2 }

// scenario is a lesson as a scenario.
func (l lesson) scenario(seconds float64) scenario.Scenario {
	s := scenario.Default()
	s.Lobby.Players, s.Rates.TickHz, s.Rates.SendEvery = l.players, l.hz, l.every
	if l.change != nil {
		l.change(&s)
	}
	s.Measure.Seconds = seconds
	settle(&s)
	s.Name = fmt.Sprintf("n%d-%dhz-every%d-spread%g-bursts%g-far%g-hot%g", l.players, l.hz, l.every, s.Lobby.Spread, s.Play.Bursts, s.Lobby.FarMetres, s.Play.HotSpot)
	return s
}

func calibrate(c *cobra.Command, out string, plays int, seconds float64) error {
	if plays < 1 || plays > 100 || !(seconds >= 0.5 && seconds <= 60) {
		return badUse(fmt.Errorf("%d plays of %g s: expected 1 to 100 of 0.5 to 60", plays, seconds))
	}
	m, err := knownRounds(out) // an interrupted calibration goes on
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range m.Steps {
		known[s.Facts.Scenario] = true
	}
	all := lessons()
	for i, l := range all {
		if known[l.scenario(seconds).Name] {
			continue
		}
		step, err := rehearse(c.Context(), l.scenario(seconds), seedsFor(l.players), plays, slowdown{})
		if err != nil {
			return calibrated(c.Context(), out, m, err)
		}
		m.Steps = append(m.Steps, capacity.Measurement{Step: step, HeldOut: l.held})
		fmt.Fprintf(c.OutOrStdout(), "%3d of %d: %-50s %8.1f µs a tick, %7.0f B/s a client, sees %.1f\n", i+1, len(all),
			step.Facts.Scenario, 1000*step.TickCPUMillis.Mean, step.Facts.Bytes, step.Facts.Visible)
	}
	return calibrated(c.Context(), out, m, nil)
}

// calibrated writes what there is.
func calibrated(ctx context.Context, out string, m capacity.Measurements, err error) error {
	if ctx.Err() != nil {
		err = nil
	}
	if err != nil || len(m.Steps) == 0 {
		return err
	}
	raw, err := m.Encode()
	if err != nil {
		return err
	}
	return report.Replace(out, raw)
}

// readMeasurements reads a file of calibrate, or a plan.json.
func readMeasurements(path string) (capacity.Measurements, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return capacity.Measurements{}, badUse(fmt.Errorf("measurements: %w; make some with tickrate plan calibrate", err))
	}
	m, err := capacity.ParseMeasurements(path, raw)
	return m, badUse(err)
}
