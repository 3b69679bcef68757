package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
)

// newScenarios is plan's subcommand that lists the scenarios of this build.
func newScenarios() *cobra.Command {
	return &cobra.Command{
		Use:   "scenarios [NAME|FILE]",
		Short: "List the scenarios of this build, or print one in full",
		Long: `scenarios lists what plan --scenario knows by name. With the name of one, or a file, it prints that with every key, which is what a
file of your own may hold; keys that a file leaves out are as in one-lobby.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return printScenario(c, args[0])
			}
			t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range scenario.Names() {
				s, _ := scenario.Named(name)
				fmt.Fprintf(t, "%s\t%s\n", name, s.About)
			}
			return t.Flush()
		},
	}
}

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

// openScenario reads a scenario of this build, or a file. Its errors are of use.
func openScenario(name string) (scenario.Scenario, error) {
	if s, ok := scenario.Named(name); ok {
		return s, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return scenario.Scenario{}, badUse(fmt.Errorf("scenario: %w; those of this build: %s", err, strings.Join(scenario.Names(), ", ")))
	}
	s, err := scenario.Parse(name, text)
	return s, badUse(err)
}

// follow takes a scenario into the flags: what was typed goes before it.
func (f *planFlags) follow(c *cobra.Command) error {
	s, err := openScenario(f.scenario)
	if err != nil {
		return err
	}
	typed := func(name string) bool { return c.Flags().Changed(name) }
	take := func(name string, do func()) {
		if !typed(name) {
			do()
		}
	}
	take("start", func() { f.start = s.Size() })
	take("max", func() { f.max = s.Lobby.Most })
	take("rate", func() { f.rate = s.Rates.TickHz })
	take("interval", func() { f.every = s.Rates.SendEvery })
	take("full", func() { f.full = s.Play.Full })
	take("socket", func() { f.socket = s.Network.Socket })
	take("codec", func() { f.codec = s.Network.Codec })
	take("relevance", func() { f.relevance = s.Lobby.Relevance })
	take("maps", func() { f.maps = s.Lobby.Map })
	take("mode", func() { f.mode = s.Lobby.Mode })
	take("far", func() { f.far = s.Lobby.FarMetres })
	take("seed", func() { f.seed = s.Play.Seed })
	take("trace", func() { f.traces = s.Play.Traces })
	take("repeat", func() { f.repeat = s.Measure.Repeat })
	if !f.quick {
		take("measure", func() { f.measure = s.Measure.Seconds })
		take("warm", func() { f.warm = s.Measure.WarmSeconds })
	}
	take("level", func() { f.expr = s.Measure.Level })
	if typed("start") && !typed("max") {
		f.max = max(f.max, f.start)
	}
	if typed("max") && !typed("start") {
		f.start = min(f.start, f.max)
	}
	f.s = s
	return nil
}

// at is err with the line of the scenario's file that is to blame for it: that of key, unless flag was typed in its place.
func (f *planFlags) at(c *cobra.Command, flag, key string, err error) error {
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

// fill puts the flags back into the scenario, so that it says in full what is run.
func (f *planFlags) fill() error {
	s := &f.s
	if s.Name == "" {
		*s = scenario.Default()
	}
	*s = s.At(f.start)
	s.Lobby.Most, s.Lobby.Map, s.Lobby.Mode, s.Lobby.FarMetres, s.Lobby.Relevance = f.max, f.maps, f.mode, f.far, f.relevance
	s.Rates.TickHz, s.Rates.SendEvery = f.rate, f.every
	s.Play.Seed, s.Play.Traces, s.Play.Full = f.seed, f.traces, f.full
	s.Network.Socket, s.Network.Codec = f.socket, f.codec
	s.Measure.Seconds, s.Measure.WarmSeconds, s.Measure.Repeat, s.Measure.Level = f.measure, f.warm, f.repeat, f.expr
	return s.Check()
}

// settings are all keys of a scenario with their values, for reports.
func settings(s scenario.Scenario) (all []capacity.Setting) {
	text, err := s.Text()
	if err != nil {
		return nil // a scenario holds nothing that TOML does not
	}
	table := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			table = strings.Trim(line, "[]") + "."
		} else if key, value, ok := strings.Cut(line, " = "); ok {
			all = append(all, capacity.Setting{Name: table + key, Value: strings.Trim(value, "'\"")})
		}
	}
	return all
}
