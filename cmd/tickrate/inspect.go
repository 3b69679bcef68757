package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/sim"
)

func newInspect() *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Show how a match is put together, how its shots were judged, and what a server sends and why",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "systems",
		Short: "List a tick's systems in their order, what each reads and writes, and what is in conflict",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return inspectSystems(c, sim.Systems()) },
	}, newInspectShots(), newInspectClocks(), newInspectBits(), newInspectWhy())
	return c
}

// inspectSystems prints a table of systems, and fails if it has conflicts.
func inspectSystems(c *cobra.Command, table []sim.System) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tsystem\tside\treads\twrites\tdoes")
	for i, s := range table {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, s.Name, s.Side, names(s.Reads), names(s.Writes), s.Purpose)
	}
	fmt.Fprintln(w, "\n\tdatum\tsort\t\t\tis")
	for _, d := range sim.Data() {
		fmt.Fprintf(w, "\t%s\t%s\t\t\t%s\n", d.Name, d.Sort, d.Is)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	conflicts := sim.Conflicts(table)
	if len(conflicts) > 0 {
		return errors.New("conflicts: " + strings.Join(conflicts, "; "))
	}
	fmt.Fprintf(c.OutOrStdout(), "\n%d systems, no conflicts\n", len(table))
	return nil
}

func names(data []sim.Datum) string {
	words := make([]string, len(data))
	for i, d := range data {
		words[i] = string(d)
	}
	return strings.Join(words, " ")
}
