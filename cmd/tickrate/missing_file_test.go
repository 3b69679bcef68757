package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/cmd/internal/usage"
)

// A file that a command line names and that is not there is an error of use, exit code 2, and the
// error names the file.
func TestMissingFileIsAnErrorOfUse(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.itr")
	for _, args := range [][]string{
		{"codec", "show", missing},
		{"codec", "eval", "--train", missing, "--test", missing},
		{"codec", "eval", "--pose", "1cm,0.1deg", "--train", missing + ".csv", "--test", missing + ".csv"},
		{"replay", missing},
		{"inspect", "shots", missing},
		{"bench", "compare", missing, missing},
		{"plan", "predict", "--scenario", missing},
		{"plan", "predict", "--prices", missing},
		{"serve", "--config", missing},
		{"sim", "preview", "--map", missing},
		{"sim", "preview", "--content", missing},
	} {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(args)
		if err := root.ExecuteContext(t.Context()); !usage.Is(err) ||
			!strings.Contains(err.Error(), missing) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A long headline of a plan is broken at spaces before column 80.
func TestPrintWrapped(t *testing.T) {
	var out strings.Builder
	text := "knee of the swarm, not of the server: at least 300 players (the swarm could not load " +
		"600 players: " +
		"the swarm did not keep its schedule: 3.1 % of passes were over half a tick late)"
	printWrapped(&out, text)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		if len(line) > 80 || i > 0 && !strings.HasPrefix(line, "    ") {
			t.Errorf("line %d: %q", i, line)
		}
		lines[i] = strings.TrimSpace(line)
	}
	if len(lines) != 3 || strings.Join(lines, " ") != text {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	out.Reset()
	word := strings.Repeat("x", 100)
	if printWrapped(&out, word); out.String() != word+"\n" {
		t.Errorf("one word: %q", out.String())
	}
}
