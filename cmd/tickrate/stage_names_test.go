package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/internal/stage"
	"github.com/tickrate/tickrate/server/host/capture"
	"github.com/tickrate/tickrate/server/metrics"
	"github.com/tickrate/tickrate/sim"
)

// stageNames are the names that a stage may have: those of the table, and the systems of the match.
func stageNames() (all []string) {
	for _, s := range stage.All {
		all = append(all, s.Name)
	}
	for _, s := range sim.Systems() {
		all = append(all, s.Name)
	}
	return all
}

// checkStageNames fails for a name that no stage has, and if there is none.
func checkStageNames(t *testing.T, where string, names []string) {
	t.Helper()
	if len(names) == 0 {
		t.Errorf("%s: no stages", where)
	}
	for _, name := range names {
		if !slices.Contains(stageNames(), name) {
			t.Errorf("%s: stage %q is not in the table of package internal/stage", where, name)
		}
	}
}

// The stages of a tick are the table, with the systems of the match in place of their row, and no
// two have one name. The guide has the table.
func TestStagesAreThoseOfTheTable(t *testing.T) {
	var want, got []string
	for _, s := range stage.All {
		if s.Name == stage.Match {
			for _, system := range sim.Systems() {
				want = append(want, system.Name)
			}
			continue
		}
		want = append(want, s.Name)
	}
	for s := range metrics.Stage(metrics.NumStages) {
		got = append(got, s.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("stages %q, want %q", got, want)
	}
	all := stageNames()
	slices.Sort(all)
	if n := len(all); len(slices.Compact(all)) != n {
		t.Errorf("a system of the match has the name of a stage: %q", all)
	}
	guide, err := os.ReadFile("../../docs/guide/profile.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []stage.Stage
	_, table, _ := strings.Cut(string(guide), "| stage | work |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		rows = append(rows, stage.Stage{Name: cells[0], Work: cells[1]})
	}
	if !slices.Equal(rows, stage.All) {
		t.Errorf("docs/guide/profile.md has %q, want %q", rows, stage.All)
	}
}

// checkServedStages looks at the stage names in the figures and metrics of a running server.
func checkServedStages(t *testing.T, addr string) {
	t.Helper()
	get := func(path string) []byte {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var names []string
	for _, m := range regexp.MustCompile(`[{,]stage="([^"]*)"`).FindAllSubmatch(get("/metrics"), -1) {
		names = append(names, string(m[1]))
	}
	checkStageNames(t, "/metrics", names)
	var stats metrics.Report
	if err := json.Unmarshal(get("/stats"), &stats); err != nil {
		t.Fatal(err)
	}
	names = names[:0]
	for _, s := range stats.Stages {
		names = append(names, s.Name)
	}
	checkStageNames(t, "/stats", names)
}

// checkCapturedStages looks at the stage names in tick.json and in the regions of an execution trace,
// as go tool trace has parsed it.
func checkCapturedStages(t *testing.T, folder string, trace []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "tick.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r capture.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.Stages {
		names = append(names, s.Name)
	}
	checkStageNames(t, "tick.json", names)
	names = names[:0]
	for _, m := range regexp.MustCompile(`"lobby 0 ([^"]*)"`).FindAllSubmatch(trace, -1) {
		if name := string(m[1]); name != "tick" {
			names = append(names, name)
		}
	}
	checkStageNames(t, "trace.out", names)
}
