// Command benchreport reads the output of go test -bench. It writes BENCHMARKS.md from six rounds of
// the benchmarks that -list names (make bench-report), or checks that nothing failed and that all
// units are ones that benchstat scales (-check; make bench). An error names the line of the input.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/tickrate/tickrate/bench"
)

// main reads the flags and does what they say. It exits with status 2 on wrong flags and with status 1
// if the input is wrong.
func main() {
	in := flag.String("in", "", "output of go test -bench -benchmem, a `file`")
	out := flag.String("out", "", "page to write, a `file`")
	list := flag.Bool("list", false, "print packages and patterns of the benchmarks that the page needs")
	check := flag.Bool("check", false, "check units and failures, write nothing")
	all := flag.Bool("all", false, "with -check: the output is of all benchmarks, and so has those of the page")
	flag.Parse()
	var err error
	switch {
	case *list && flag.NArg() == 0:
		for _, j := range bench.Jobs() {
			fmt.Println(j.Package, j.Pattern)
		}
	case *in != "" && *check && flag.NArg() == 0:
		err = with(*in, func(raw []byte) error { return bench.Check(bytes.NewReader(raw), *all) })
	case *in != "" && *out != "" && flag.NArg() == 0:
		err = write(*in, *out)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

// write reads the results in the file in and writes the page out. An error leaves out as it is.
func write(in, out string) error {
	var page bytes.Buffer
	if err := with(in, func(raw []byte) error { return bench.Write(&page, bytes.NewReader(raw)) }); err != nil {
		return err
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}

// with reads a file of results. What use says is wrong with them gets the file's name.
func with(in string, use func(raw []byte) error) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("benchmark results: %w", err)
	}
	var wrong *bench.InputError
	switch err := use(raw); {
	case errors.As(err, &wrong) && wrong.Line > 0:
		return fmt.Errorf("%s:%d: expected %s", in, wrong.Line, wrong.Want)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: expected %s", in, wrong.Want)
	case err != nil:
		return fmt.Errorf("benchmark results %s: %w", in, err)
	}
	return nil
}
