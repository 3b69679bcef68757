package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

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
