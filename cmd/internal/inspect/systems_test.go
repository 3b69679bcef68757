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
	for i, s := range sim.Systems() {
		if f := strings.Fields(lines[i+1]); len(f) < 4 || f[1] != s.Name ||
			f[2] != s.Side.String() || !strings.Contains(lines[i+1], s.Purpose) {
			t.Errorf("line %d is %q, want %s", i+1, lines[i+1], s.Name)
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
