//go:build !planted

package planted_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/planted"
)

// Nothing of a bug is left in a binary without the tag: no symbol of this package, nor a function
// that only a bug calls. In one with the tag both are there.
func TestNothingIsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	if planted.Built || planted.On(planted.ReplayTaken) || planted.Set(planted.ReplayTaken) != planted.None {
		t.Error("a bug without the tag")
	}
	for _, c := range []struct {
		flags []string
		left  bool
	}{{[]string{"-tags", ""}, false}, {[]string{"-tags", "planted"}, true}} {
		bin := filepath.Join(t.TempDir(), "tickrate")
		args := append(append([]string{"build"}, c.flags...), "-buildvcs=false", "-o", bin, "../../cmd/tickrate")
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command("go", "tool", "nm", bin).Output()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for line := range strings.Lines(string(out)) {
			if strings.HasSuffix(strings.TrimSpace(line), "planted.Set") && !c.left {
				continue // the simulator calls it, which is in the command; without the tag it does nothing
			}
			if strings.Contains(line, "internal/planted.") || strings.Contains(line, "tickrate/sim.shuffle") {
				found = append(found, strings.TrimSpace(line))
			}
		}
		if (len(found) > 0) != c.left {
			t.Errorf("built with %v: %v", c.flags, found)
		}
	}
}
