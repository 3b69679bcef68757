package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command and every flag says what it is for; a flag that takes a value names what that is, a number its unit; and each says its
// default, for zero and nothing too, which cobra leaves out.
func TestFlagsAreDocumented(t *testing.T) {
	flags, commands := 0, 0
	check := func(c *cobra.Command, f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		says := func(words ...string) bool {
			for _, w := range words {
				if strings.Contains(usage, w) {
					return true
				}
			}
			return false
		}
		kind, at := f.Value.Type(), c.CommandPath()+" --"+f.Name
		number := strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") || strings.HasPrefix(kind, "float") || kind == "duration"
		flags++
		switch {
		case len(usage) < 10:
			t.Errorf("%s says %q", at, usage)
		case kind == "bool":
		case number && (!strings.Contains(f.Usage, "`") || strings.HasPrefix(name, "int") || strings.HasPrefix(name, "float")):
			t.Errorf("%s is a number without a unit in backquotes: %s", at, usage)
		case number && (f.DefValue == "0" || f.DefValue == "0s") && !says("0", "default"):
			t.Errorf("%s does not say what 0 means: %s", at, usage)
		case !number && !strings.Contains(f.Usage, "`") && kind == "string":
			t.Errorf("%s does not name what it takes in backquotes: %s", at, usage)
		case !number && (f.DefValue == "" || f.DefValue == "[]") && !says("default", "(required)", "only ", "also "):
			t.Errorf("%s does not say what it is without: %s", at, usage)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		if c.Short == "" || c.RunE == nil && c.Run == nil && !c.HasSubCommands() {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { check(c, f) })
		for _, s := range c.Commands() {
			walk(s)
		}
	}
	walk(newRoot())
	if commands < 20 || flags < 100 {
		t.Errorf("%d commands with %d flags: nothing tested", commands, flags)
	}
}
