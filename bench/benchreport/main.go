// Command benchreport writes BENCHMARKS.md from the output of go test -bench. The results of all
// benchmarks go in, COUNT runs of each; one page comes out, or an error that names the line of the
// input. make bench-report runs it.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/tickrate/tickrate/bench"
)

// main reads the flags and writes the page. It exits with status 2 on wrong flags and with status 1
// if no page was written.
func main() {
	in := flag.String("in", "", "output of go test -bench -benchmem -count N, a `file` (required)")
	out := flag.String("out", "", "page to write, a `file` (required)")
	flag.Parse()
	if *in == "" || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

// write reads the results in the file in and writes the page out. An error leaves out as it is.
func write(in, out string) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("benchmark results: %w", err)
	}
	var page bytes.Buffer
	var wrong *bench.InputError
	switch err := bench.Write(&page, bytes.NewReader(raw)); {
	case errors.As(err, &wrong) && wrong.Line > 0:
		return fmt.Errorf("%s:%d: expected %s", in, wrong.Line, wrong.Want)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: expected %s", in, wrong.Want)
	case err != nil:
		return fmt.Errorf("benchmark results %s: %w", in, err)
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}
