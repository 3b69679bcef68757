package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A step that fails leaves a tick of its server, of the measured time, with the match around it; the
// report and the summary say where and why. The hardware counters are read, or words say why not.
func TestPlanCapturesFailedSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of real sockets")
	}
	dir := t.TempDir()
	missed, out := filepath.Join(dir, "missed"), filepath.Join(dir, "report")
	code, text, errs := result(t, "plan", "--slo", "mean(tick) < 0.000001*period", "--start", "3", "--max", "3",
		"--duration", "700ms", "--warmup", "200ms", "--limit", "2s", "--out", out,
		"--capture", missed, "--capture-when", "elapsed >= 0", "--capture-most", "1")
	if code != exitMissed && code != exitVoid && code != exitOutOfTime {
		t.Fatalf("code %d, %s\n%s", code, errs, text)
	}
	if !strings.Contains(text, "hardware counters") && !strings.Contains(text, "instructions a player and tick") {
		t.Errorf("no word of hardware counters:\n%s", text)
	}
	p, kept := readPlan(t, out), []string{}
	void := false
	for _, s := range field[[]any](t, p, "steps") {
		void = void || field[bool](t, s, "void")
		captures, ok := s.(map[string]any)["captures"].([]any)
		for _, c := range captures {
			kept = append(kept, field[string](t, c, "folder"))
			if field[string](t, c, "cause") == "" {
				t.Error("a capture without a cause")
			}
		}
		if ok == field[bool](t, s, "pass") && ok {
			t.Errorf("captures of a step that passes: %v", s)
		}
	}
	if len(kept) == 0 && void {
		t.Skip("the machine is too busy for a step")
	}
	all, _ := os.ReadDir(missed)
	if len(kept) != 1 || len(all) != 1 || all[0].Name() != kept[0] || !strings.HasPrefix(kept[0], "players-") {
		t.Fatalf("captures %q in the report, %v in the folder", kept, all)
	}
	folder := filepath.Join(missed, kept[0])
	if !strings.Contains(text, folder) {
		t.Errorf("the summary does not name %s:\n%s", folder, text)
	}
	readme, err := os.ReadFile(filepath.Join(folder, "README.txt"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^tickrate replay .*--at (\d+) --profile .*$`).FindSubmatch(readme)
	if line == nil {
		t.Fatalf("no line that replays the tick:\n%s", readme)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", string(line[0])+" --times 3")
	shell.Dir, shell.Env = folder, tickrateOnPath(t)
	if played, err := shell.CombinedOutput(); err != nil || !strings.HasPrefix(string(played), fmt.Sprintf("tick %s with ", line[1])) {
		t.Errorf("%s: %v:\n%s", line[0], err, played)
	}
}
