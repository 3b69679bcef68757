package tickrate_test

import (
	"os"
	"strings"
	"testing"
)

// The README shows the Example of this package, line by line.
func TestReadmeQuotesTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(readme), "```go\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("no Go block in the README")
	}
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) > 15 {
		t.Errorf("the README's example has %d lines, want 15 at most", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(string(example), "\t"+strings.TrimRight(line, " ")+"\n") {
			t.Errorf("the README shows a line that the Example does not have: %s", line)
		}
	}
}
