package dst

import (
	_ "embed"
	"strings"
	"testing"
)

// regressions are cases that once violated an invariant. The list only grows.
//
//go:embed seeds/regressions.txt
var regressions string

// No case of the list violates an invariant again.
func TestRegressions(t *testing.T) {
	n := 0
	for line := range strings.Lines(regressions) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		c, err := ParseCase(line)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if (testing.Short() || raceEnabled) && n > 1 {
			continue
		}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil {
			t.Errorf("%v", r.Violation)
		}
	}
	if n == 0 {
		t.Error("no cases")
	}
}
