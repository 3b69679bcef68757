package main

import (
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/slo"
)

// A term that the link breaks at every size is named before the first step; others are searched for.
func TestImpossibleServiceLevels(t *testing.T) {
	for _, c := range []struct {
		link, slo string
		want      string // "": possible
	}{
		{"clean", slo.DefaultExpr, ""},
		{"mobile", slo.DefaultExpr, "lost(input) is 1, expected == 0"},
		{"mobile", "p99(tick)<0.6*period && kbps(down)<=256", ""},
		{"mobile", "lost(input) <= 0.05*total(input)", ""},
		{"delay=120ms", slo.DefaultExpr, "p99(age) is 120, expected <= 100 (2 * interval)"},
		{"delay=120ms", "p99(age) < 130", ""},
		{"delay=60ms", "p50(rtt) < 100", "p50(rtt) is 120, expected < 100"},
		{"loss=1%", "lost(input) == 0", "lost(input) is 1"},
		{"clean", "p99(tick) < 0.000000001", ""}, // not the link's fault: the search finds it
	} {
		s := scenario.Default()
		s.Network.Link = c.link
		err := impossible(s, slo.MustCompile(slo.Level{Expr: c.slo}))
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "the built-in scenario mobile")) {
			t.Errorf("%s, %s: %v", c.link, c.slo, err)
		}
	}
	for _, name := range scenario.Names() {
		s, _ := scenario.Named(name)
		o := slo.MustCompile(slo.Level{TickHz: s.Rates.TickHz, SendEvery: s.Every(), Expr: s.Measure.SLO})
		if err := impossible(s, o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, _, errs := result(t, "plan", "--scenario", "mobile", "--slo", slo.DefaultExpr); code != exitUsage ||
		!strings.Contains(errs, "lost(input)") {
		t.Errorf("code %d, %s", code, errs)
	}
}
