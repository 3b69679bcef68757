package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// benchNames are the names of a plan's benchmark lines, in order and once each.
func benchNames(t *testing.T, p Plan) (names []string) {
	t.Helper()
	var out bytes.Buffer
	if err := WriteBench(&out, p); err != nil {
		t.Fatal(err)
	}
	for r := benchfmt.NewReader(&out, "bench.txt"); r.Scan(); {
		if line, ok := r.Result().(*benchfmt.Result); ok && !slices.Contains(names, string(line.Name)) {
			names = append(names, string(line.Name))
		}
	}
	return names
}

// Two plans of the same sizes have the same benchmark names, whichever of them held.
func TestGivenSizesHaveStableNames(t *testing.T) {
	p := samplePlan(100)
	for _, s := range p.Steps[:3] {
		p.Sizes = append(p.Sizes, s.Players)
	}
	p.Steps = slices.Clone(p.Steps[:3])
	first := benchNames(t, p)
	for i := range p.Steps { // another machine: all fails
		p.Steps[i].Pass, p.Steps[i].Failed = false, []string{"p99(tick) is 20"}
		p.Steps[i].TickCPUMillis.Mean *= 3
	}
	second := benchNames(t, p)
	if !slices.Equal(first, second) || len(first) < 3*5 || !slices.Contains(first, "Plan/players=64") ||
		!slices.Contains(first, "Live/"+p.Scenario+"/players=64/seal") {
		t.Errorf("%q, then %q", first, second)
	}
}

// One size explains nothing: a curve through it has no R². Where lobbies grow, charts are against
// lobbies.
func TestPageOfFewSizesAndOfLobbies(t *testing.T) {
	page := func(p Plan) string { return render(t, p) }
	one, many := samplePlan(1), samplePlan(100)
	if p := one.Clean(); p.Fit.Total.R2 != nil || p.Fit.Total.Parts == 0 {
		t.Errorf("a fit through one size: %+v", p.Fit.Total)
	}
	if p := many.Clean(); p.Fit.Total.R2 == nil || *p.Fit.Total.R2 < 0.9 {
		t.Errorf("a fit through many sizes: %+v", p.Fit.Total)
	}
	if text := page(one); strings.Contains(text, "<td>1.0000</td>") || !strings.Contains(text, "<td>–</td><td>–</td>") {
		t.Error("the page of one size has an R²")
	}
	many.LobbyPlayers = 10
	if text := page(many); !strings.Contains(text, "Against lobbies") || !strings.Contains(text, `"lobby_players":10`) ||
		!strings.Contains(text, "lobbies of ${each}") {
		t.Error("the page of many lobbies is about players")
	}
}
