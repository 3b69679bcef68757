package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench/capacity"
)

// newErrors is plan's subcommand that tells how far predictions are off.
func newErrors() *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "errors",
		Short: "Tell how far predictions are off, lobby by lobby and along everything in which scenarios differ",
		Long: `errors fits a model to measurements as plan --predict does, and prints what it says of each of them beside what was measured: of those that
were held out, to which it was not fitted, and of the others. CPU times, which are of few matches, are brought to what the hundreds cost whose
bytes were measured, by what was done in both. Beside each stands how sure the measurement itself is, as matches of one scenario differ. Then
come mean errors along each axis: players, rates, room, fire, sight, links, codecs. The laws themselves follow.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return planErrors(c, file, asJSON) },
	}
	c.Flags().StringVar(&file, "measurements", "", "`file` of plan calibrate, or a plan.json; default those recorded with this build")
	c.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	return c
}

func planErrors(c *cobra.Command, file string, asJSON bool) error {
	ms, from, err := measurementsOf(file)
	if err != nil {
		return err
	}
	m, err := capacity.FitModel(ms)
	if err != nil {
		return badUse(fmt.Errorf("%s: expected %w", from, err))
	}
	all, err := m.JudgeAll(ms)
	if err != nil {
		return badUse(fmt.Errorf("%s: %w", from, err))
	}
	held := capacity.Axes(ms, all, true)
	w := c.OutOrStdout()
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"verdicts": all, "held_out": held, "model": m})
	}
	for _, kind := range []bool{true, false} {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "%s\tdown a client\tknown to\terror\tCPU a tick\tknown to\terror\n", map[bool]string{true: "held out", false: "fitted"}[kind])
		for _, v := range all {
			if v.HeldOut == kind {
				fmt.Fprintf(t, "  %s\t%.0f B/s\t± %.1f %%\t%+.1f %%\t%s\n", v.Scenario, v.Bytes, 100*v.BytesUnsure, 100*v.BytesError(), timesOf(v))
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "mean errors of what was held out, along each axis: bytes, CPU")
	for _, a := range held {
		fmt.Fprintf(w, "  %s:", a.Name)
		for _, o := range a.Places {
			fmt.Fprintf(w, "  %s (%d) %+.1f, %+.1f %%", o.At, o.Steps, 100*o.Bytes, 100*o.CPU)
		}
		fmt.Fprintln(w)
	}
	for _, l := range m.Parts {
		fmt.Fprintf(w, "law of %s, bytes: %v\n", l.Name, l)
	}
	for _, l := range m.Stages {
		fmt.Fprintf(w, "law of %s, µs: %v\n", l.Name, l)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Codecs)) {
		if c := m.Codecs[name]; len(c.Rows.Parts) > 0 {
			fmt.Fprintf(w, "law of %s, bytes: %v\nlaw of %s, µs: %v\n", c.Rows.Name, c.Rows, c.Time.Name, c.Time)
		}
	}
	return nil
}

func timesOf(v capacity.Verdict) string {
	if v.CPU == 0 {
		return "not timed"
	}
	return fmt.Sprintf("%.1f µs\t± %.1f %%\t%+.1f %%", v.CPU, 100*v.CPUUnsure, 100*v.CPUError())
}
