package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
)

// Captures of steps that fail, or in which the machine stalled, are kept with their causes, up to the
// bound, which counts those of earlier runs; those of other steps are removed.
func TestCapturesOfFailedStepsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missed")
	c := &Captures{Dir: dir, When: "tick > period", Most: 3}
	if c.flags(0) != nil || (*Captures)(nil).flags(0) != nil || (*Captures)(nil).begin() != nil ||
		(*Captures)(nil).end(&measure.Step{}) != nil {
		t.Error("captures without a step")
	}
	step := func(s measure.Step, processes int) []measure.Capture {
		t.Helper()
		if err := c.begin(); err != nil {
			t.Fatal(err)
		}
		for p := range processes {
			flags := c.flags(p)
			ticks := flags[slices.Index(flags, "--capture")+1]
			if !slices.Contains(flags, "--capture-from-reset") || flags[len(flags)-1] != c.When {
				t.Errorf("flags %q", flags)
			}
			folder := filepath.Join(ticks, "tick-7-lobby"+filepath.Base(filepath.Dir(ticks)))
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			text := `{"cause": {"owner": "machine", "text": "The machine did it."}}`
			if err := os.WriteFile(filepath.Join(folder, "tick.json"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.end(&s); err != nil {
			t.Fatal(err)
		}
		return s.Captures
	}
	for i, x := range []struct {
		step measure.Step
		n    int
		want []string
	}{
		{measure.Step{Players: 10, Pass: true}, 2, nil},
		{measure.Step{Players: 20, Void: true}, 1, nil},
		{measure.Step{Players: 30}, 1, []string{"players-30-tick-7-lobby0"}},
		{measure.Step{Players: 35}, 0, nil},
		{measure.Step{Players: 40, Void: true, Stalled: true}, 1, []string{"players-40-tick-7-lobby0"}},
		{measure.Step{Players: 50}, 3, []string{"players-50-tick-7-lobby0"}}, // no more than 3
	} {
		var got []string
		for _, one := range step(x.step, x.n) {
			got = append(got, one.Folder)
			if one.Cause != "The machine did it." {
				t.Errorf("%d: cause %q", i, one.Cause)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%d: kept %q, want %q", i, got, x.want)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) != 3 || len(hidden) != 0 || !strings.Contains(left[0], "players-30") {
		t.Errorf("left %q and %q", left, hidden)
	}
}
