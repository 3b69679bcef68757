package inspect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/sim"
)

func TestSystems(t *testing.T) {
	var out bytes.Buffer
	if err := Systems(&out, sim.Systems()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for _, line := range lines {
		if len(line) > columns {
			t.Errorf("%q is wider than %d", line, columns)
		}
	}
	words := strings.Join(strings.Fields(out.String()), " ")
	for i, s := range sim.Systems() {
		want := fmt.Sprintf("%d %s (%s) %s ", i+1, s.Name, s.Side, s.Purpose)
		if !strings.Contains(words, want) {
			t.Errorf("no %q", want)
		}
	}
	if !strings.HasSuffix(out.String(), fmt.Sprintf("%d systems, no conflicts\n", len(sim.Systems()))) {
		t.Errorf("it ends %q", lines[len(lines)-2])
	}
	broken := []sim.System{{Name: "a", Reads: []sim.Datum{"actions"}}}
	if err := Systems(&out, broken); err == nil ||
		err.Error() != "conflicts: a reads actions before it is written" {
		t.Errorf("a broken table: %v", err)
	}
}
