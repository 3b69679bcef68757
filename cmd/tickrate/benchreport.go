package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tickrate/tickrate/bench"
)

func newBenchReport() *cobra.Command {
	var in, out string
	c := &cobra.Command{
		Use:   "bench-report",
		Short: "Write BENCHMARKS.md from the output of go test -bench",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if in == "" || out == "" {
				return badUse(fmt.Errorf("expected --in and --out; make bench-report gives both"))
			}
			return benchReport(in, out)
		},
	}
	c.Flags().StringVar(&in, "in", "", "output of go test -bench -benchmem -count N, a `file` (required)")
	c.Flags().StringVar(&out, "out", "", "page to write, a `file` (required)")
	return c
}

// benchReport writes the page only when all of it could be made.
func benchReport(in, out string) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return badUse(fmt.Errorf("benchmark results: %w", err))
	}
	var page bytes.Buffer
	var wrong *bench.InputError
	switch err := bench.Write(&page, bytes.NewReader(raw), bench.Meta{}); {
	case errors.As(err, &wrong) && wrong.Line > 0:
		return badUse(fmt.Errorf("%s:%d: expected %s", in, wrong.Line, wrong.Want))
	case errors.As(err, &wrong):
		return badUse(fmt.Errorf("%s: expected %s", in, wrong.Want))
	case err != nil:
		return fmt.Errorf("benchmark results %s: %w", in, err)
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}
