// Shell completion of flags and arguments that take one word of a list.

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tickrate/tickrate/cmd/internal/assets"
	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/lagcomp"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/content"
)

// completion gives the words of a flag or an argument.
type completion func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completions are those of flags, by the name of the flag and what its help calls the value: a
// --profile of links is no --profile that is a file.
func completions() map[string]completion {
	var codecs, relevances, profiles []string
	for codec := range schema.Codecs {
		codecs = append(codecs, codec.String())
	}
	for r := server.RelevanceAuto; r <= server.RelevanceGrid; r++ {
		relevances = append(relevances, r.String())
	}
	for _, p := range impair.Presets() {
		profiles = append(profiles, p.Name+"\t"+p.About)
	}
	return map[string]completion{
		"codec codec": words(codecs...), "socket end": words("gnet", "mmsg"), "socket backend": words("gnet", "mmsg"),
		"relevance players": words(relevances...), "relevance management": words(relevances...),
		"profile profile": words(profiles...), "down profile": words(profiles...),
		"link profile": words(profiles...),
		"killcam when": words("on", "off", "auto"), "decode amount": words("full", "own", "acks"),
		"verdict verdict": words(lagcomp.VerdictNames()...),
		"clamp reason":    words(append(lagcomp.ClampNames(), "any")...),
		"map map":         completeMap, "map name": completeMap, "rotate MAP": completeMap, "map kind": words("gen", "town"),
		"mode mode": completeMode, "mode name": completeMode,
	}
}

// completeWords registers the completions of flags of c and of all its subcommands.
func completeWords(c *cobra.Command) { completeFlags(c, completions()) }

// completeFlags is completeWords with the completions of all flags.
func completeFlags(c *cobra.Command, all map[string]completion) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		if of := all[f.Name+" "+value]; of != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, of) // fails for unknown flags only
		}
	})
	for _, sub := range c.Commands() {
		completeFlags(sub, all)
	}
}

// words completes to fixed words.
func words(all ...string) completion {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

// packOf is the content pack of the command line so far: that of this build unless --content names a
// valid one.
func packOf(c *cobra.Command) *content.Pack {
	if f := c.Flags().Lookup("content"); f != nil {
		if p, err := assets.Content(f.Value.String()); err == nil {
			return p
		}
	}
	return content.Default()
}

// completeMap completes to the maps of the content pack and of this build, the prefixes of those that
// are generated, and files.
func completeMap(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, m := range packOf(c).Maps {
		names = append(names, m.Name+"\t"+m.Title)
	}
	names = append(names, arena.Names()...)
	return append(names, "gen:\tgen:PLAYERS:SEED, in the open", "town:\ttown:PLAYERS:SEED, among houses"),
		cobra.ShellCompDirectiveDefault
}

// completeMapArg is completeMap for the one argument of a command.
func completeMapArg(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeMap(c, args, typed)
}

// completeMode completes to the modes of the content pack.
func completeMode(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, m := range packOf(c).Modes {
		names = append(names, m.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
