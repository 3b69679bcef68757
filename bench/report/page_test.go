package report

import (
	"bytes"
	unescape "html"
	"regexp"
	"strings"
	"testing"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
)

func render(t *testing.T, p Plan) string {
	t.Helper()
	var out bytes.Buffer
	if err := WritePage(&out, p); err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(out.String(), "%!"); at >= 0 {
		t.Errorf("the page has a value that fmt could not write: %.80q", out.String()[at:])
	}
	return out.String()
}

var tags = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<[^>]*>`)

// words is what a reader sees, without the markup.
func words(html string) string {
	return strings.Join(strings.Fields(unescape.UnescapeString(tags.ReplaceAllString(html, " "))), " ")
}

// outline is the structure of a page: sections, headings, tables with their size, charts.
func outline(html string) string {
	var out strings.Builder
	html = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>`).ReplaceAllString(html, "")
	tags := regexp.MustCompile(`<(h1|h2|dt|table|tr|figcaption|p class="banner"|dl class="\w+")[^>]*>([^<]*)`)
	for _, tag := range tags.FindAllStringSubmatch(html, -1) {
		switch {
		case tag[1] == "tr":
			out.WriteString("    row\n")
		case tag[1] == "h1" || tag[1] == "h2":
			out.WriteString(tag[1] + " " + tag[2] + "\n")
		default:
			out.WriteString("  " + strings.TrimSpace(tag[1]+" "+strings.TrimSpace(tag[2])) + "\n")
		}
	}
	return out.String()
}

func TestPageOutlineGolden(t *testing.T) {
	interrupted := samplePlan(1)
	interrupted.Partial = true
	golden(t, "outline-full.golden.txt", outline(render(t, samplePlan(100))))
	golden(t, "outline-partial-1.golden.txt", outline(render(t, interrupted)))
	interrupted.Steps, interrupted.Knee = nil, search.Knee{}
	golden(t, "outline-partial-0.golden.txt", outline(render(t, interrupted)))
}

// The words and numbers of a page whose fit has more sizes than parts, with all of its tables.
func TestPageWordsGolden(t *testing.T) {
	p := samplePlan(100)
	if c := p.Clean().Fit.Total; c.R2 == nil || len(c.Residuals) <= c.Parts {
		t.Fatalf("the sample's fit has %d sizes for %d parts", len(c.Residuals), c.Parts)
	}
	page := strings.ReplaceAll(render(t, p), "</tr>", "</tr> ¶ ")
	golden(t, "words-full.golden.txt", strings.ReplaceAll(words(page), " ¶ ", "\n")+"\n")
}

func TestPageSaysTheVerdict(t *testing.T) {
	full := samplePlan(100)
	if full.Knee.Bound != search.Measured || full.Voids() == 0 {
		t.Fatalf("the sample does not show what is tested: %+v", full.Knee)
	}
	weak := samplePlan(100)
	weak.Knee = search.Knee{Players: full.Knee.Players, Low: full.Knee.Players, Bound: search.AtLeast,
		Reason: "the swarm could not load 2,000 players"}
	none := samplePlan(1)
	none.Knee = search.Knee{Bound: search.Measured, FailedAt: 64, Failed: []string{"p99 tick CPU too slow"},
		Reason: "not even 64 players held: p99 tick CPU too slow"}
	lame := samplePlan(100)
	for i := range lame.Steps {
		lame.Steps[i].Bytes.Cells[0].Bits--
	}
	cut := samplePlan(2)
	cut.Partial = true
	empty := Plan{Partial: true}

	cases := []struct {
		name string
		plan Plan
		want []string
	}{
		{"1 measured", full, []string{
			count(full.Knee.Players) + " players in one lobby",
			"With a probability of 90 % the knee is " + count(full.Knee.Low) + " to " + count(full.Knee.High) + " players",
			full.Knee.Term + " is what limits it", "Knee of each term",
			"What failed at " + count(full.Knee.FailedAt) + ": " + full.Knee.Failed[0],
			"Service level p99(tick) <= 0.6*period", "What a unit of work costs",
			"(player, connection) pair", "Movement recorded play",
			"Void steps 1 of ", full.Commit, "20261121", "tickrate plan --seed", "AMD EPYC, 2 cores",
			"more than 4 ms late", "3 min 12 s", "whole tick"}},
		{"1 measured: bytes", full, []string{"Where the bytes go",
			"Nearest to the knee, with " + count(full.Nearest()) + " players, each client received ",
			"a sample of 4 clients, which add up to the ", "sockets gave, bit by bit",
			"another 28 B a datagram", "By component", "player.yaw", "player mask", "9 others"}},
		{"1 measured: bytes that do not add up", lame, []string{"but the byte counts add up to "}},
		{"2 lower bound", weak, []string{"At least " + count(full.Knee.Players) + " players",
			"lower bound: the swarm could not load"}},
		{"3 nothing passed", none, []string{"No lobby held the service level", "not even 64 players",
			"What failed at 64: p99 tick CPU too slow"}},
		{"4 interrupted", cut, []string{"partial: interrupted after 2 steps",
			"lower bound: from 2 steps"}},
		{"5 interrupted at once", empty, []string{"Nothing was measured",
			"Nothing was measured yet: no step of the plan has come to its end",
			"partial: interrupted after 0 steps", "No step was measured", "nothing to draw",
			"not recorded"}},
	}
	for _, c := range cases {
		got := words(render(t, c.plan))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: page lacks %q", c.name, want)
			}
		}
		if strings.Contains(got, "partial") != c.plan.Partial {
			t.Errorf("%s: partial %v, but the page says otherwise", c.name, c.plan.Partial)
		}
	}
}

func TestPageAsksForNothingElse(t *testing.T) {
	html := render(t, samplePlan(100))
	if !strings.Contains(html, "default-src 'none'") {
		t.Error("no content security policy")
	}
	body := regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(html, "")
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import`)
	for _, m := range links.FindAllStringSubmatch(body, -1) {
		if ref := m[1]; ref != "data:," && ref != "plan.json" && ref != "bench.txt" &&
			!strings.HasPrefix(ref, "#") {
			t.Errorf("the page refers to %q", m[0])
		}
	}
}

func TestPageSurvivesHostileWords(t *testing.T) {
	p := samplePlan(100)
	p.Command = `x</script><script>alert(1)</script>`
	p.Movement = `<img src=x onerror=alert(2)>`
	p.Steps[0].StageCPUMillis[0].Name = `</script><b>`
	p.Fit = measure.Fit(p.Steps)
	html := render(t, p)
	if strings.Contains(html, "<script>alert") || strings.Contains(html, "<img") || strings.Contains(html,
		"</script><b>") {
		t.Error("words of the plan became markup")
	}
	if n := strings.Count(html, "</script>"); n != 2 {
		t.Errorf("%d script ends, want 2", n)
	}
}
