package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
)

// A report with measurements stays when the next plan is interrupted, or has measured nothing yet.
func TestSavePlanKeepsAGoodReport(t *testing.T) {
	dir := t.TempDir()
	good := report.Plan{Commit: "good", Steps: []measure.Step{{Players: 20, Pass: true}}}
	void := measure.Step{Players: 20, Void: true, VoidReason: "the swarm was late"}
	for i, c := range []struct {
		plan report.Plan
		kept bool
	}{
		{report.Plan{Commit: "first", Partial: true}, false}, // there is nothing to keep
		{good, false},
		{report.Plan{Commit: "early", Partial: true}, true},
		{report.Plan{Commit: "void", Partial: true, Steps: []measure.Step{void}}, true},
		{report.Plan{Commit: "all void", Steps: []measure.Step{void}}, false}, // it ended
	} {
		kept, err := savePlan(dir, c.plan)
		raw, _ := os.ReadFile(filepath.Join(dir, report.PlanFile))
		if err != nil || kept != c.kept || strings.Contains(string(raw), `"commit": "`+c.plan.Commit+`"`) == c.kept {
			t.Errorf("%d: kept %v, %v: %.80s", i, kept, err, raw)
		}
	}
	var out strings.Builder
	printReportPath(&out, dir, true)
	if want := "nothing was measured; the report of an earlier plan stays in " + dir + "\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
