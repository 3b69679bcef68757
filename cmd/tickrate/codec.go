// The command codec and its subcommands in codec_*.go: tools that train the models and dictionaries
// of a build and compare codecs. None of them talks to a server.

package main

import (
	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// newCodec returns the command codec, which holds the tools for models and dictionaries.
func newCodec() *cobra.Command {
	c := &cobra.Command{
		Use:   "codec",
		Short: "Train, show and compare snapshot codecs",
		Args:  usage.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCodecTrain(), newCodecDict(), newCodecShow(), newCodecRecord(), newCodecEval())
	return c
}
