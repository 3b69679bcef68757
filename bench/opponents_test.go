package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// The line that another is compared with has the opponent's variant and no part that the other lacks.
func TestOpponentsLine(t *testing.T) {
	o := opponent{"ecs", "X", "naive", "a plain loop"}
	for i, c := range []struct {
		names string // of results, in order
		want  string // for each: the name of what it is compared with, "self" or "-"
	}{
		/* 0 */ {"X", "-"},
		/* 1 */ {"X/fast X/slow", "- -"},
		/* 2 */ {"X/fast X/naive", "X/naive self"},
		/* 3 */ {"X/fast/n=1 X/naive/n=1 X/fast/n=2 X/naive/n=2", "X/naive/n=1 self X/naive/n=2 self"},
		/* 4 */ {"X/n=1/fast X/n=1/naive X/n=2/fast", "X/n=1/naive self -"},
		/* 5 */ {"X/fast/n=1 X/fast/n=2 X/naive", "X/naive X/naive self"},
		/* 6 */ {"X/n=1/fast X/naive X/n=1/naive", "X/n=1/naive self self"},
		/* 7 */ {"X/encode/fast X/decode/fast X/encode/naive", "X/encode/naive - self"},
		/* 8 */ {"X/fast X/naive-too", "- -"},
		/* 9 */ {"X/fast Y/naive", "- -"},
	} {
		var all []*series
		for name := range strings.FieldsSeq(c.names) {
			base, parts := split(benchfmt.Name(name))
			all = append(all, &series{pkg: "ecs", base: base, parts: parts})
		}
		var got []string
		for _, s := range all {
			switch line := o.line(s, all); line {
			case nil:
				got = append(got, "-")
			case s:
				got = append(got, "self")
			default:
				got = append(got, line.name())
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%d %s: compared with %q, want %q", i, c.names, got, want)
		}
	}
}

// An opponent says what it is in one to six words, and is of a benchmark that exists. Check holds its
// variant to results.
func TestOpponentsAreDeclared(t *testing.T) {
	for _, o := range slices.Concat(rivals, limits) {
		if err := o.check(); err != nil {
			t.Error(err)
		}
		if !hasBenchmark(o.pkg, o.base) {
			t.Errorf("package %s has no Benchmark%s, whose variant %s is an opponent", o.pkg, o.base, o.variant)
		}
	}
	for _, what := range []string{"", "  ", "a rival that needs seven words here"} {
		by := opponents{rivals: []opponent{{"ecs", "X", "naive", what}}}
		if err := write(new(bytes.Buffer), strings.NewReader(""), nil, nil, by); err == nil ||
			!strings.Contains(err.Error(), "words that say what code it is") {
			t.Errorf("a rival that says %q of itself: %v", what, err)
		}
	}
}

// hasBenchmark reports whether a test file of a package has the benchmark.
func hasBenchmark(pkg, base string) bool {
	files, _ := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(text), "\nfunc Benchmark"+base+"(")
	})
}

// rounds writes results of BenchmarkX/variant, one for each time, in ns/op.
func rounds(variant string, times ...float64) string {
	var text strings.Builder
	for _, t := range times {
		fmt.Fprintf(&text, "BenchmarkX/%s-2 10 %g ns/op\n", variant, t)
	}
	return text.String()
}

const ecs = "commit: abc\npkg: github.com/tickrate/tickrate/ecs\n"

// of is the page of results of package ecs's BenchmarkX.
func of(results string, by opponents) (string, error) {
	var out bytes.Buffer
	err := write(&out, strings.NewReader(ecs+results), []station{{"Table", "ecs:X"}}, nil, by)
	return out.String(), err
}

// Ratios are medians of those of rounds, so that a slow half of a run changes none; there is no ratio
// without six rounds of both, and no difference where the interval holds 1.
func TestRatios(t *testing.T) {
	by := opponents{rivals: []opponent{{"ecs", "X", "naive", "a plain loop"}},
		limits: []opponent{{"ecs", "X", "copy", "a copy"}}}
	for i, c := range []struct{ in, want string }{
		{rounds("a", 10, 10, 10, 20, 20, 20) + rounds("naive", 50, 50, 50, 100, 100, 100),
			"| X/a | 5.00x ±0% a plain loop | 15.0 ns/op | 33% |"},
		{rounds("a", 10, 10, 10, 20, 20, 20) + rounds("naive", 10, 11, 9, 20, 21, 19),
			"| X/a | no difference from a plain loop |"},
		{rounds("a", 10, 10, 10, 10, 10, 10) + rounds("naive", 50, 20, 50, 50, 50, 50),
			"| X/a | no steady ratio to a plain loop | 10.0 ns/op |"},
		{rounds("a", 15, 15, 15, 40, 15, 15) + rounds("copy", 10, 10, 10, 10, 10, 10),
			"| X/a | no steady ratio to the limit a copy |"},
		{rounds("a", 10, 10, 10, 10, 10) + rounds("naive", 50, 50, 50, 50, 50), "| X/a |  | 10.0 ns/op |  |"},
		{rounds("a", 10, 10, 10, 10, 10, 10) + rounds("naive", 50, 50, 50, 50, 50), "| X/a |  | 10.0 ns/op | 0% |"},
		{rounds("a", 15, 15, 15, 15, 15, 15) + rounds("copy", 10, 10, 10, 10, 10, 10),
			"| X/a | 1.50 ±0% of the limit a copy |"},
		{rounds("naive", 5, 5, 5, 5, 5, 5), "| X/naive | rival: a plain loop |"},
		{rounds("copy", 5, 5, 5, 5, 5, 5), "| X/copy | limit: a copy |"},
		{rounds("a", 9, 11, 9, 11, 9, 11) + rounds("copy", 10, 10, 10, 10, 10, 10),
			"| X/a | 1.00 ±10% of the limit a copy |"}, // within the interval
	} {
		if got, err := of(c.in, by); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%d: the page lacks %q (%v):\n%s", i, c.want, err, got)
		}
	}
}

// A line that beats its limit by more than the interval is refused, and so is a ratio between an
// operation of 256 rows and one row.
func TestRatiosRefused(t *testing.T) {
	by := opponents{rivals: []opponent{{"ecs", "X", "naive", "a plain loop"}},
		limits: []opponent{{"ecs", "X", "copy", "a copy"}}}
	if got, err := of(rounds("a", 9, 9, 9, 9, 9, 9.5)+rounds("copy", 10, 10, 10, 10, 10, 10), by); !errors.Is(err,
		ErrLimit) || got != "" {
		t.Errorf("a beaten limit: %v\n%s", err, got)
	}
	if got, err := of("BenchmarkX/a-2 10 256 ns/op 1 ns/row\n"+rounds("naive", 5), by); !errors.Is(err, errUnits) ||
		got != "" || !strings.Contains(err.Error(), "got ns/op and ns/row") {
		t.Errorf("two units: %v\n%s", err, got)
	}
}
