package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command and flag has a help text. A flag that takes a value names it, with its unit, and
// its default, which cobra leaves out for zero values.
func TestFlagsAreDocumented(t *testing.T) {
	flags, commands := 0, 0
	listed := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)
	check := func(c *cobra.Command, flag string) {
		f := c.LocalFlags().Lookup(flag)
		name, usage := "", strings.ReplaceAll(f.Usage, "`", "")
		if parts := strings.Split(f.Usage, "`"); len(parts) > 2 {
			name = parts[1]
		}
		says := func(words ...string) bool {
			for _, w := range words {
				if strings.Contains(usage, w) {
					return true
				}
			}
			return false
		}
		kind, at := f.Value.Type(), c.CommandPath()+" --"+f.Name
		number := strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") ||
			strings.HasPrefix(kind, "float") || kind == "duration"
		flags++
		switch {
		case len(usage) < 10:
			t.Errorf("%s says %q", at, usage)
		case kind == "bool":
		case number && name == "":
			t.Errorf("%s is a number without a unit in backquotes: %s", at, usage)
		case number && (f.DefValue == "0" || f.DefValue == "0s") && !says("0", "default"):
			t.Errorf("%s does not say what 0 means: %s", at, usage)
		case kind == "string" && name == "":
			t.Errorf("%s does not name what it takes in backquotes: %s", at, usage)
		case !number && (f.DefValue == "" || f.DefValue == "[]") &&
			!says("default", "(required)", "only ", "also "):
			t.Errorf("%s does not say what it is without: %s", at, usage)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		if c.Short == "" || c.RunE == nil && c.Run == nil && !c.HasSubCommands() {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
		for _, flag := range listed.FindAllStringSubmatch(c.LocalFlags().FlagUsages(), -1) {
			check(c, flag[1])
		}
		for _, s := range c.Commands() {
			walk(s)
		}
	}
	walk(newRoot())
	if commands < 20 || flags < 100 {
		t.Errorf("%d commands with %d flags: nothing tested", commands, flags)
	}
}

// Shells complete flags that take one word of a list.
func TestFlagsComplete(t *testing.T) {
	for i, c := range []struct{ line, want string }{
		{"serve --codec ", "huffman\nrange\nstored\nzstd\nhuffman-zstd"},
		{"serve --relevance ", "auto\noff\nall\ngrid"},
		{"plan --socket ", "gnet\nmmsg"},
		{"inspect bits --codec ", "huffman"}, {"impair --profile ", "mobile\t"},
		{"plan --scenario ", "duels"}, {"inspect w", "why\t"},
		{"serve --map ", "arena-16\narena-256"}, {"serve --rotate ", "town:\t"}, {"plan --map ", "gen\ntown"},
		{"swarm --director a:1 --map ", "arena-64"}, {"map check ", "arena-16"}, {"map draw ", "arena-16"},
		{"serve --mode ", "deathmatch"}, {"sim preview --mode a", "assault"},
		{"serve --content nowhere --mode ", "deathmatch"},
		{"inspect shots --verdict ", "miss\nwall"}, {"inspect shots --clamp ", "none\nnothing-sent"},
		{"serve --killcam ", "on\noff\nauto"}, {"swarm --decode ", "full\nown\nacks"},
		{"replay --profile ", ":0"}, // files, not profiles of links
	} {
		words := strings.Split(c.line, " ")
		out, err := output(t, append([]string{"__complete"}, words...)...)
		if err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%d: %q completes to %q, %v; want %q", i, c.line, out, err, c.want)
		}
	}
}
