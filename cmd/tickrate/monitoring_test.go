package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// series is what a server exports: the values of each label by metric and label.
type series map[string]map[string][]string

// scraped reads the series of a running server in the text format.
func scraped(t *testing.T, at string) series {
	t.Helper()
	resp, err := http.Get("http://" + at + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := series{}
	label := regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `).FindAllStringSubmatch(string(text), -1) {
		if all[m[1]] == nil {
			all[m[1]] = map[string][]string{"instance": {at}} // which Prometheus adds
		}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			all[m[1]][l[1]] = append(all[m[1]][l[1]], l[2])
		}
	}
	return all
}

// selectors are the metrics of an expression of PromQL and their label matchers.
var selectors = regexp.MustCompile(`\b((?:tickrate|go|process)_[a-z_]+)(?:\{([^}]*)\})?`)

// check reports what of an expression the server does not export.
func (s series) check(expr string) (wrong []string) {
	matcher := regexp.MustCompile(`([a-z]+)(=~|=)"([^"]*)"`)
	known := map[string]bool{}
	found := selectors.FindAllStringSubmatch(expr, -1)
	for _, m := range found {
		labels := s[m[1]]
		if labels == nil {
			wrong = append(wrong, "no metric "+m[1])
			continue
		}
		for l := range labels {
			known[l] = true
		}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			for _, value := range strings.Split(l[3], "|") {
				if labels[l[1]] == nil || !strings.HasPrefix(value, "$") && !slices.Contains(labels[l[1]], value) {
					wrong = append(wrong, fmt.Sprintf("%s has no %s=%q", m[1], l[1], value))
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for _, l := range strings.Split(m[1], ", ") {
			if !known[l] {
				wrong = append(wrong, "no metric of it has the label "+l)
			}
		}
	}
	if len(found) == 0 || strings.Count(expr, "(") != strings.Count(expr, ")") {
		wrong = append(wrong, "not a whole expression")
	}
	return wrong
}

// The alerts and the dashboard that come with tickrate use metrics, labels and values that a running
// server exports, and the guide shows each alert as the rules have it.
func TestAlertsAndDashboardAreOfThisServer(t *testing.T) {
	cmd, _, line := serving(t, "--ready", "--map", "gen:4:1", "--players", "2", "--lobbies", "2", "--prefault=false")
	var r ready
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	exported := scraped(t, r.HTTP)
	endsInTime(t, cmd, syscall.SIGTERM)

	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	guide, rules := read("docs/guide/operate.md"), read("deploy/prometheus/alerts.yml")
	alerts := regexp.MustCompile(`(?m)^ +expr: (.*)$`).FindAllStringSubmatch(rules, -1)
	if len(alerts) < 5 {
		t.Errorf("%d alerts", len(alerts))
	}
	for _, a := range alerts {
		if wrong := exported.check(a[1]); wrong != nil {
			t.Errorf("alert %s: %v", a[1], wrong)
		}
		if !strings.Contains(guide, "\n    "+a[1]+"\n") {
			t.Errorf("the guide lacks %s", a[1])
		}
	}

	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal([]byte(read("deploy/prometheus/dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	exprs := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs++
			if wrong := exported.check(target.Expr); wrong != nil {
				t.Errorf("panel %s: %s: %v", p.Title, target.Expr, wrong)
			}
		}
	}
	for _, v := range board.Templating.List {
		if wrong := exported.check(v.Definition); v.Definition != "" && wrong != nil {
			t.Errorf("variable %s: %v", v.Name, wrong)
		}
	}
	if exprs < 20 {
		t.Errorf("only %d expressions of the dashboard were looked at", exprs)
	}
	for _, bad := range []string{`rate(tickrate_tick_total[5m])`, `sum by (place) (tickrate_lobby_players)`,
		`tickrate_lobby_state{state="asleep"}`, `rate(tickrate_ticks_total[5m]`, `up`} {
		if exported.check(bad) == nil {
			t.Errorf("%s passes", bad)
		}
	}
}
