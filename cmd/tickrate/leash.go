package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// leashFlag is hidden: programs that start serve, and may be killed, hold its standard input.
func leashFlag(c *cobra.Command, leash *bool) {
	c.Flags().BoolVar(leash, "leash", false, "stop when standard input ends, as it does when whoever holds it dies, however that comes")
	_ = c.Flags().MarkHidden("leash") // the flag is there
}

// leashed is a context that ends with ctx or, if there is a leash, with what is read from it.
func leashed(ctx context.Context, leash bool, from io.Reader) context.Context {
	if !leash {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, from) // however it ends, nobody is there any more
		cancel()
	}()
	return ctx
}
