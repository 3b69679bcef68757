// Shell completion of flags that take one word of a list.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/ecs/schema"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
)

// completeWords registers completions for such flags of c and of all its subcommands, by the name
// of the flag.
func completeWords(c *cobra.Command) {
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
	words := map[string][]string{"codec": codecs, "relevance": relevances,
		"socket": {"gnet", "mmsg"}, "profile": profiles, "down": profiles, "link": profiles}
	for name, of := range words {
		if f := c.Flags().Lookup(name); f != nil && f.Value.Type() == "string" {
			// It fails for unknown flags only.
			_ = c.RegisterFlagCompletionFunc(name,
				cobra.FixedCompletions(of, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, sub := range c.Commands() {
		completeWords(sub)
	}
}
