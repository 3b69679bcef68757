// The steps of bench record on sockets: a server with a swarm, as plan runs them, and its floor.

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/gate"
	"github.com/tickrate/tickrate/bench/runner"
	"github.com/tickrate/tickrate/bench/scenario"
)

// liveTries is how often a step on sockets is tried until one is not void.
const liveTries = 3

// playLive adds one step of the default scenario with a number of players.
func playLive(c *cobra.Command, samples *gate.Samples, players int) error {
	var f scenarioFlags
	if err := f.use(scenario.Default()); err != nil {
		return err
	}
	screen := newScreen(c.OutOrStdout(), false)
	cfg, err := f.config(c, screen)
	if err != nil {
		return err
	}
	cfg.Floor = true
	r := runner.New(cfg)
	for try := 1; ; try++ {
		step, err := r.Step(c.Context(), players)
		screen.clear()
		if err != nil {
			return err
		}
		switch {
		case step.Fault != "":
			return fmt.Errorf("the server failed with %d players: %s", players, step.Fault)
		case step.Void && try < liveTries:
			continue
		case step.Void:
			return fmt.Errorf("%w: %s", errVoid, step.VoidReason)
		case step.Floor.NotMeasured != "":
			return fmt.Errorf("the floor of %d players was not measured: %s", players, step.Floor.NotMeasured)
		}
		l := gate.Live{Scenario: f.s.Name, Players: players, Floors: step.Floor.Tick, KbpsDown: step.KbpsDownPerClient}
		samples.Live = append(samples.Live, l)
		fmt.Fprintf(c.OutOrStdout(), "%v: a tick costs %.2f times its floor\n", l, l.Floors)
		return nil
	}
}
