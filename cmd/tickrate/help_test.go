package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The flags of every command fit a terminal of helpColumns.
func TestHelpOfFlagsIsWrapped(t *testing.T) {
	lines := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, flags, _ := strings.Cut(c.UsageString(), "Flags:\n") // some commands have none
		for line := range strings.Lines(flags) {
			lines++
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) > helpColumns {
				t.Errorf("%s: %q is wider than %d", c.CommandPath(), line, helpColumns)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if lines < 100 {
		t.Errorf("only %d lines were looked at", lines)
	}
}

// No help text contains Go source, which a quoting mistake would leave there.
func TestHelpShowsNoSource(t *testing.T) {
	source := []string{"strings.", "fmt.", "` +", "+ `", `"+`, `+"`, "%d", "%s", "%g", "%!"}
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		for _, text := range []string{c.Short, c.Long, c.Example, c.Use, c.Flags().FlagUsages()} {
			for _, s := range source {
				if at := strings.Index(text, s); at >= 0 {
					t.Errorf("%s: %q in %q", c.CommandPath(), s, text[max(0, at-40):min(len(text), at+40)])
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if commands < 15 {
		t.Errorf("only %d commands were looked at", commands)
	}
}
