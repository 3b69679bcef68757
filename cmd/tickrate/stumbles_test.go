package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
)

// What a new user mistypes ends with an error that says what to write instead.
func TestMistypedCommandsSayWhatWasMeant(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
	}{
		{"help nope", `unknown command "nope"`},
		{"help serv", "did you mean serve?"},
		{"help map chek", "did you mean check?"},
		{"serv", "did you mean serve?"},
		{"query http://127.0.0.1:7915/", "is a URL: expected host:port, as 127.0.0.1:7915"},
		{"swarm --server http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
		{"impair --to http://127.0.0.1:7913", "is a URL: expected host:port, as 127.0.0.1:7913"},
	} {
		if code, _, errs := result(t, strings.Fields(tt.line)...); code != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("tickrate %s: %d %q, want 2 and %q", tt.line, code, errs, tt.want)
		}
	}
	if code, out, _ := result(t, "help", "map", "check"); code != 0 || !strings.Contains(out, "flood fill") {
		t.Errorf("tickrate help map check: %d %q, want its help", code, out)
	}
}

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
