package dst

import (
	_ "embed"
	"strings"
	"testing"
)

// regressions are cases that once broke something. The list only grows.
//
//go:embed seeds/regressions.txt
var regressions string

// Whatever broke once does not break again.
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
		b, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if b != nil {
			t.Errorf("%v", b)
		}
	}
	if n == 0 {
		t.Error("no cases")
	}
}
