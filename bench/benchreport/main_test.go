package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Results that go test does not write are refused with their line and what was expected there, and
// no page is written.
func TestBenchReportRefuses(t *testing.T) {
	const fine = "commit: abc\npkg: github.com/tickrate/tickrate/ecs\nBenchmarkX-2 10 5 ns/op\n"
	const shape = "expected a benchmark's name, its iterations, and values each with a unit: "
	for i, c := range []struct{ text, want string }{
		{"", ": expected benchmark results, as go test -bench writes them: there are none\n"},
		{fine + "BenchmarkY-2 10 five ns/op\n", ":4: " + shape + "parsing measurement: invalid syntax\n"},
		{fine + "BenchmarkY-2 ten 5 ns/op\n", ":4: " + shape + "parsing iteration count: invalid syntax\n"},
		{fine + "BenchmarkY-2 10 +Inf ns/op\n", ":4: expected a finite number of ns/op, got +Inf\n"},
		{"\n" + fine + "--- FAIL: BenchmarkY\n",
			":5: expected results of a run in which nothing failed, got \"--- FAIL: BenchmarkY\"\n"},
	} {
		dir := t.TempDir()
		in, page := filepath.Join(dir, "bench.txt"), filepath.Join(dir, "page.md")
		if err := os.WriteFile(in, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := write(in, page); err == nil || err.Error()+"\n" != in+c.want {
			t.Errorf("%d: %v, want %q", i, err, c.want)
		}
		if _, err := os.Stat(page); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d: a page: %v", i, err)
		}
	}
}
