// The command plan scenarios, and how a scenario is found: by its name in this build, or as a file.

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newScenarios returns the command that lists the scenarios of this build or prints one.
func newScenarios() *cobra.Command {
	return &cobra.Command{
		Use:   "scenarios [NAME|FILE]",
		Short: "List the scenarios of this build, or print one in full",
		Long: `scenarios lists the names that plan --scenario accepts. With a name or a file it
prints that scenario with every key, its meaning and its range, as a file of your
own can hold them; keys that a file leaves out are as in one-lobby.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return printScenario(c, args[0])
			}
			// A line for each scenario: its name and what it is about.
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range scenario.Names() {
				s, _ := scenario.Named(name)
				fmt.Fprintf(t, "%s\t%s\n", name, s.About)
			}
			return t.Flush()
		},
	}
}

// printScenario prints a scenario as TOML with every key, defaults included.
func printScenario(c *cobra.Command, name string) error {
	s, err := openScenario(name)
	if err != nil {
		return err
	}
	text, err := s.Text()
	if err != nil {
		return err
	}
	_, err = c.OutOrStdout().Write(text)
	return err
}

// openScenario returns the scenario of this build with that name, or reads it from a file. Its
// errors are errors of use.
func openScenario(name string) (scenario.Scenario, error) {
	if s, ok := scenario.Named(name); ok {
		return s, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		names := strings.Join(scenario.Names(), ", ")
		return scenario.Scenario{}, usage.Errorf("scenario: %w; those of this build: %s", err, names)
	}
	s, err := scenario.Parse(name, text)
	return s, usage.Error(err)
}

// byFlag names the flag whose value broke a rule of the scenario in place of the key, if a flag
// did.
func byFlag(c *cobra.Command, err error) error {
	var broken *scenario.Error
	if !errors.As(err, &broken) {
		return err
	}
	for _, name := range flagsOf[broken.Key] {
		if fl := c.Flags().Lookup(name); fl != nil && fl.Changed {
			return fmt.Errorf("--%s %s: expected %s", name, fl.Value, broken.Want)
		}
	}
	return err
}

// flagsOf are the flags that set a key of a scenario, the likeliest cause of an error first.
var flagsOf = map[string][]string{
	"lobby.players":          {"start", "size", "max"},
	"lobby.lobbies":          {"start", "size", "max"},
	"lobby.most":             {"max", "start", "size"},
	"lobby.map":              {"map"},
	"lobby.view_distance":    {"view-distance"},
	"lobby.relevance":        {"relevance"},
	"lobby.mode":             {"mode"},
	"rates.tick_hz":          {"rate"},
	"rates.send_every_ticks": {"interval"},
	"play.full":              {"full"},
	"network.socket":         {"socket"},
	"network.codec":          {"codec"},
	"measure.duration":       {"duration"},
	"measure.warmup":         {"warmup"},
	"measure.repeat":         {"repeat"},
}

// at adds the position of a key in the scenario's file to an error, unless the value came from the
// flag. It returns nil for nil.
func (f *scenarioFlags) at(c *cobra.Command, flag, key string, err error) error {
	if err == nil {
		return nil
	}
	if _, built := scenario.Named(f.scenario); built || c.Flags().Changed(flag) {
		return err
	}
	text, unread := os.ReadFile(f.scenario)
	line := scenario.Lines(text)[key]
	if unread != nil || line == 0 {
		return err
	}
	return fmt.Errorf("%s:%d: %s: %w", f.scenario, line, key, err)
}
