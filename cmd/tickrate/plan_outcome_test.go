package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/search"
)

// Each end of a plan has an exit code of its own.
func TestPlanExitCodes(t *testing.T) {
	pass, fail := measure.Step{Players: 200, Pass: true}, measure.Step{Players: 400, Failed: []string{"p99(tick) is 12"}}
	void := measure.Step{Players: 800, Void: true, VoidReason: "the swarm was late"}
	for i, c := range []struct {
		plan report.Plan
		code int
		want string
	}{
		{report.Plan{Steps: []measure.Step{pass, fail}, Knee: search.Knee{Players: 200, Bound: search.Measured}}, 0, ""},
		{report.Plan{Steps: []measure.Step{pass, void}, Knee: search.Knee{Players: 200, Bound: search.AtLeast}}, 0, ""},
		{report.Plan{Steps: []measure.Step{fail}, Knee: search.Knee{Bound: search.Measured, Reason: "no lobby passed"}},
			exitMissed, "the service level failed: no lobby passed"},
		{report.Plan{Steps: []measure.Step{void}, Knee: search.Knee{Bound: search.NotFound}}, exitVoid,
			"void: do not use these figures: the swarm was late"},
		{report.Plan{Partial: true, Steps: []measure.Step{pass}}, exitStopped, "interrupted after 1 step"},
		{report.Plan{Steps: []measure.Step{pass}, Knee: search.Knee{Players: 200, Bound: search.AtLeast, OutOfTime: true}},
			exitOutOfTime, "out of time before the knee was found; --limit"},
		{report.Plan{Sizes: []int{200}, Steps: []measure.Step{pass}}, 0, ""},
		{report.Plan{Sizes: []int{200, 400, 800}, Steps: []measure.Step{pass, fail, void}}, exitMissed,
			"the service level failed at 400 players"},
		{report.Plan{Sizes: []int{200, 800}, Steps: []measure.Step{pass, void}}, exitVoid, "of 800 players"},
		{report.Plan{Sizes: []int{200, 800}, Steps: []measure.Step{pass}, Knee: search.Knee{OutOfTime: true}},
			exitOutOfTime, "before all sizes were measured"},
	} {
		err := outcome(c.plan)
		if got := exitCode(err); got != c.code || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: code %d, %v; want %d, %s", i, got, err, c.code, c.want)
		}
	}
	for _, line := range []string{"0  the knee was found", "3  the service level failed", "4  void", "5  interrupted",
		"6  out of time", "2  the command line"} {
		if !strings.Contains(newPlan().Long, line) {
			t.Errorf("plan --help has no %q", line)
		}
	}
}

// What plan prints fits 80 columns, whatever the machine and the service level are called.
func TestPlanPrints80Columns(t *testing.T) {
	long := strings.Repeat("one more reason, ", 12)
	s := measure.Step{Players: 4000, Pass: true, Lobbies: 1, DatagramsInPerTick: 1e6, CommandsPerTick: 1e6,
		SnapshotsPerTick: 1e6, DatagramsOutPerTick: 1e6}
	for _, name := range []string{"receive", "open", "move", "snapshot", "seal", "send"} {
		s.StageCPUMillis = append(s.StageCPUMillis, measure.Stage{Name: name, Mean: 12345678})
	}
	p := report.Plan{Steps: []measure.Step{s}, Units: s.Units(),
		Knee: search.Knee{Players: 4000, Low: 3900, High: 4090, Bound: search.Measured, Term: long, Failed: []string{long},
			Terms: []search.TermKnee{{Term: long, Low: 3900}, {Term: long, Low: 3900, High: 4090}}, Cause: long, Reason: long}}
	var out strings.Builder
	w := &wrapper{w: &out}
	printPlan(w, p)
	for line := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(line) > 81 { // with its end
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
	out.Reset()
	wrapInto(&out, "    "+strings.Repeat("x", 100)+" and more")
	if want := "    " + strings.Repeat("x", 100) + "\n    and more\n"; out.String() != want {
		t.Errorf("a long word: %q", out.String())
	}
}
