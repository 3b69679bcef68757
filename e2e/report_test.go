package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/server/metrics"
)

// plan returns one of the plans in the test data of bench/report.
func plan(t *testing.T, name string) (p report.Plan) {
	t.Helper()
	text, err := os.ReadFile("../bench/report/testdata/" + name + ".golden.json")
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func page(dir string) string { return "file://" + filepath.Join(dir, report.PageFile) }

func TestReport(t *testing.T) {
	ctx, seen := browser(t)
	interrupted, empty := plan(t, "plan-1"), report.Plan{Partial: true}
	interrupted.Partial = true
	cases := []struct {
		name   string
		plan   report.Plan
		charts string
	}{
		{"full", plan(t, "plan-100"), "4"}, {"one", interrupted, "4"}, {"empty", empty, "undefined"},
	}
	for _, c := range cases {
		dir := t.TempDir()
		if err := report.Write(dir, c.plan); err != nil {
			t.Fatal(err)
		}
		for _, width := range widths {
			for _, scheme := range schemes {
				if c.name != "full" && (width == 380) != (scheme == "dark") {
					continue // two views of the small pages are enough
				}
				name := fmt.Sprintf("report-%s-%d-%s", c.name, width, scheme)
				open(t, ctx, page(dir), width, scheme)
				if got := evaluate[string](t, ctx,
					`String(document.documentElement.dataset.drawn)`); got != c.charts {
					t.Errorf("%s: %s charts drawn, want %s", name, got, c.charts)
				}
				if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > width {
					t.Errorf("%s: the page is %d pixels wide", name, wide)
				}
				if cut := evaluate[string](t, ctx, `[...document.querySelectorAll(".scroll")].filter(
					s => s.scrollWidth > s.clientWidth).map(s => s.querySelector("table").id).join()`); width > 1000 && cut != "" ||
					strings.Contains(cut, "late") {
					t.Errorf("%s: tables are cut: %s", name, cut)
				}
				paper := evaluate[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
				if dark := strings.HasPrefix(paper, "rgb(21,"); dark != (scheme == "dark") {
					t.Errorf("%s: background %s", name, paper)
				}
				shoot(t, ctx, name)
			}
		}
	}
	requests, complaints := seen()
	for _, url := range requests {
		if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
	if len(requests) < 6 || len(complaints) > 0 {
		t.Errorf("%d requests seen; complaints: %q", len(requests), complaints)
	}
}

// Where lobbies grow, charts are against their number.
func TestReportOfLobbies(t *testing.T) {
	ctx, _ := browser(t)
	p, dir := plan(t, "plan-100"), t.TempDir()
	p.LobbyPlayers, p.Knee.Players, p.Knee.High = 10, 10*p.Knee.Players, 10*p.Knee.High
	for i := range p.Steps {
		p.Steps[i].Players *= 10
	}
	if err := report.Write(dir, p); err != nil {
		t.Fatal(err)
	}
	open(t, ctx, page(dir), 1280, "light")
	const legend = `document.querySelector('[data-chart=age] .u-legend').textContent`
	got := strings.ReplaceAll(evaluate[string](t, ctx, legend), ",", "")
	if !strings.Contains(got, "lobbies") || !strings.Contains(got, strconv.Itoa(p.Nearest()/10)) ||
		strings.Contains(got, strconv.Itoa(p.Nearest())) {
		t.Errorf("the legend says %q, want lobbies and %d", got, p.Nearest()/10)
	}
}

func TestReportByKeyboard(t *testing.T) {
	ctx, _ := browser(t)
	p, dir := plan(t, "plan-100"), t.TempDir()
	if err := report.Write(dir, p); err != nil {
		t.Fatal(err)
	}
	open(t, ctx, page(dir), 1280, "light")
	const chart = `document.querySelector('[data-chart=age]')`
	legend := func() string {
		return evaluate[string](t, ctx, chart+`.querySelector('.u-legend').textContent`)
	}
	if got := strings.ReplaceAll(legend(), ",", ""); !strings.Contains(got, strconv.Itoa(p.Nearest())) {
		t.Errorf("at rest the legend says %q, want the size nearest to the knee, %d", got, p.Nearest())
	}
	if reached := evaluate[bool](t, ctx,
		`[...document.querySelectorAll('.chart, .scroll')].every(e => e.tabIndex === 0 &&
			e.matches('[aria-labelledby]'))`); !reached {
		t.Error("a chart or table cannot be reached by keyboard")
	}
	press := func(key string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](chart+`.focus()`),
			chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	said := func() string {
		return evaluate[string](t, ctx, chart+`.parentElement.querySelector('output').textContent`)
	}
	press(kb.Home)
	if got := said(); !strings.Contains(got, "players 64, p50 5") || !strings.Contains(got, "ms") {
		t.Errorf("Home says %q, want 64 players and their ages", got)
	}
	press(kb.ArrowRight)
	if got := said(); !strings.Contains(got, "128") {
		t.Errorf("ArrowRight says %q, want 128 players", got)
	}
}

// With all stages of a server every series of the chart of stages has a colour of its own, and the
// values of the legend add up to the mean of a tick.
func TestReportStagesAreTold(t *testing.T) {
	ctx, _ := browser(t)
	p, dir := plan(t, "plan-100"), t.TempDir()
	p.Fit.Stages = p.Fit.Stages[:0:0]
	for stage := range metrics.Stage(metrics.NumStages) {
		p.Fit.Stages = append(p.Fit.Stages, measure.Curve{Name: stage.String()})
	}
	for i := range p.Steps {
		stages := p.Steps[i].StageCPUMillis[:0:0]
		for k := range p.Fit.Stages {
			stages = append(stages, measure.Stage{Name: p.Fit.Stages[k].Name, Mean: float64(k * 7 % 23)})
		}
		p.Steps[i].StageCPUMillis = stages
	}
	if err := report.Write(dir, p); err != nil {
		t.Fatal(err)
	}
	open(t, ctx, page(dir), 1280, "light")
	shoot(t, ctx, "report-stages-1280-light")
	const layers = `[...document.querySelectorAll('[data-chart=stages] .u-series')]
		.filter((e) => e.querySelector('.u-marker') && !/players|p50|p99/.test(e.textContent))`
	names := evaluate[[]string](t, ctx, layers+`.map((e) => e.querySelector('.u-label').textContent)`)
	colours := evaluate[[]string](t, ctx,
		layers+`.map((e) => getComputedStyle(e.querySelector('.u-marker')).backgroundColor)`)
	slices.Sort(colours)
	if len(names) != 12 || len(slices.Compact(colours)) != len(names) ||
		!slices.Contains(names, fmt.Sprintf("rest (%d stages)", metrics.NumStages-11)) {
		t.Errorf("%d colours of %q", len(colours), names)
	}
	sum := evaluate[float64](t, ctx,
		layers+`.reduce((n, e) => n + parseFloat(e.querySelector('.u-value').textContent), 0)`)
	want := 0.0
	for _, s := range p.Steps[0].StageCPUMillis {
		want += s.Mean
	}
	if sum < want-0.1 || sum > want+0.1 {
		t.Errorf("the legend adds up to %g ms, want %g", sum, want)
	}
}

// slowByElapsed returns the full plan whose largest size but one fails by elapsed time, while its CPU
// time is half of the limit, and whose largest fails by lost inputs alone.
func slowByElapsed(t *testing.T) report.Plan {
	p := plan(t, "plan-100")
	byElapsed, byInput := &measure.Step{}, &measure.Step{}
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case s.Void || s.Pass:
		case byInput.Players == 0 || s.Players > byInput.Players:
			byElapsed, byInput = byInput, s
		case s.Players < byInput.Players && s.Players > byElapsed.Players:
			byElapsed = s
		}
	}
	if byElapsed.Players == 0 || byInput.Players == 0 {
		t.Fatal("the plan has no two sizes that fail")
	}
	p.Knee.FailedAt = byElapsed.Players
	limit := p.SLO.TickLimitMillis
	byElapsed.TickCPUMillis.P99, byElapsed.TickWallMillis.P99 = limit/2, 1.5*limit
	byElapsed.Pass, byElapsed.Failed = false, []string{"p99(tick) is 15, expected <= 10 (0.6*period)"}
	byInput.TickCPUMillis.P99, byInput.TickWallMillis.P99 = limit/2, 0.6*limit
	byInput.Pass, byInput.Failed = false, []string{"lost(input) is 3, expected == 0"}
	return p
}

// The chart of ticks shows what was judged: a size that fails by elapsed time is above the limit though
// its CPU time is not, has a ring, and the legend names what failed.
func TestReportShowsWhatFailed(t *testing.T) {
	ctx, _ := browser(t)
	p, dir := slowByElapsed(t), t.TempDir()
	if err := report.Write(dir, p); err != nil {
		t.Fatal(err)
	}
	for _, width := range widths {
		for _, scheme := range schemes {
			open(t, ctx, page(dir), width, scheme)
			shoot(t, ctx, fmt.Sprintf("report-failed-%d-%s", width, scheme))
		}
	}
	open(t, ctx, page(dir), 1280, "light")
	const chart = `document.querySelector('[data-chart=stages]')`
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](chart+`.focus()`), chromedp.KeyEvent(kb.End)); err != nil {
		t.Fatal(err)
	}
	said := func() string {
		return evaluate[string](t, ctx, chart+`.parentElement.querySelector('output').textContent`)
	}
	if got := said(); !strings.Contains(got, "failed: lost(input)") {
		t.Errorf("the largest size says %q, want that inputs were lost", got)
	}
	want := fmt.Sprintf("p99 %.1f ms", 1.5*p.SLO.TickLimitMillis)
	for range p.Steps {
		if strings.Contains(strings.ReplaceAll(said(), ",", ""), fmt.Sprintf("players %d failed: p99(tick)", p.Knee.FailedAt)) {
			break
		}
		if err := chromedp.Do(ctx, chromedp.KeyEvent(kb.ArrowLeft)); err != nil {
			t.Fatal(err)
		}
	}
	cpu := fmt.Sprintf("p99 of CPU %.2f ms", p.SLO.TickLimitMillis/2)
	if got := said(); !strings.Contains(got, want) || !strings.Contains(got, cpu) {
		t.Errorf("the size that failed by elapsed time says %q, want %q and %q", got, want, cpu)
	}
	row := evaluate[string](t, ctx, `[...document.querySelectorAll('#table-steps tr.failed')].map((r) => r.cells[1].textContent).join('; ')`)
	if !strings.Contains(row, "failed: p99(tick)") || !strings.Contains(row, "failed: lost(input)") {
		t.Errorf("the table says %q", row)
	}
}
