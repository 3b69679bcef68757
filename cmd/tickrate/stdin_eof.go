package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// exitOnStdinEOFFlag adds a hidden flag for programs that start a server. They hold its standard
// input open, so that the server ends with them even if they are killed.
func exitOnStdinEOFFlag(c *cobra.Command, on *bool) {
	c.Flags().BoolVar(on, "exit-on-stdin-eof", false, "stop when standard input ends, as it does when "+
		"its writer dies")
	_ = c.Flags().MarkHidden("exit-on-stdin-eof") // fails for unknown flags only
}

// untilEOF returns a context that ends with ctx or with the end of from, which it reads and
// discards.
func untilEOF(ctx context.Context, from io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, from)
		cancel()
	}()
	return ctx
}
