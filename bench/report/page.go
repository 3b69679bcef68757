package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/internal/webplot"
)

//go:embed assets
var assets embed.FS

// asset is an embedded file of the page.
func asset(name string) string {
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("report: " + err.Error()) // embedded at build time
	}
	return string(content)
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"players": count[int], "count": count[uint64], "number": number, "significant": significant, "span": span,
	"micros": func(ms float64) string { return number(1e3 * ms) }, "nanos": func(ms float64) string { return number(1e6 * ms) },
}).Parse(asset("page.html")))

// page is what the template sees: the plan, its words and its tables.
type page struct {
	Plan
	CSS      template.CSS
	JS       template.JS   // the charts, drawn from the plan as JSON
	Headline string        // the answer in one line
	Why      string        // why the knee is where it is
	Facts    []fact        // figures at the knee
	Notes    []fact        // service level, movement, void steps
	Rows     []row         // steps by size
	Stages   stageTable    // CPU time by stage
	Lateness latenessTable // empty where it was not measured
	Bytes    bytesTables   // what clients received
	ByCodec  []codecRow    // nil where codecs were not compared
	Curves   []curveRow    // the fit
}

// fact is one line of a definition list.
type fact struct{ Name, Value, Unit string }

// row is one step in the table of steps.
type row struct {
	measure.Step
	Verdict string
}

// stageTable holds mean CPU times by stage: a column for each stage, a row for each step.
type stageTable struct {
	Names []string
	Rows  []stageRow
}

// stageRow is one step in the table of stages.
type stageRow struct {
	Players int
	Micros  []string
}

// curveRow is one curve in the table of the fit.
type curveRow struct {
	measure.Curve
	AtKnee float64 // µs at the knee's size
	Worst  string  // largest residual in percent of what was measured
	Last   bool    // the whole tick
}

// WritePage writes index.html.
func WritePage(w io.Writer, p Plan) error {
	p = p.Clean()
	v := page{
		Plan:     light(p),
		CSS:      template.CSS(webplot.Style()),
		JS:       template.JS(webplot.Script() + "\n" + asset("page.js")),
		Headline: headline(p),
		Why:      why(p),
		Facts:    facts(p),
		Notes:    notes(p),
		Rows:     rows(p),
		Stages:   stages(p),
		Lateness: lateness(p),
		Bytes:    traffic(p),
		ByCodec:  codecs(p),
		Curves:   curves(p),
	}
	return pageTemplate.Execute(w, v)
}

// headline is the answer of the plan in one line.
func headline(p Plan) string {
	switch {
	case len(p.Steps) == 0:
		return "Nothing was measured"
	case p.Knee.Players == 0 && p.Knee.Bound == search.Measured:
		return "No lobby held the service level"
	case p.Knee.Players == 0 && p.Knee.Swarm:
		return "The swarm could load no lobby: nothing is known of the server"
	case p.Knee.Players == 0 && p.Knee.Below > 0:
		return "The knee was not found below " + p.Growth(p.Knee.Below)
	case p.Knee.Players == 0:
		return "No lobby has passed yet"
	case p.Knee.Bound == search.Measured:
		return atKnee(p)
	case p.Knee.Swarm:
		return fmt.Sprintf("At least %s: the swarm's limit, not the server's", atKnee(p))
	default:
		return "At least " + atKnee(p)
	}
}

// atKnee names the size at the knee.
func atKnee(p Plan) string {
	if p.LobbyPlayers > 0 {
		return p.Growth(p.Knee.Players) + " players"
	}
	return fmt.Sprintf("%s players in %s", count(p.Knee.Players), where(p))
}

// where is in how many lobbies the players of the knee are.
func where(p Plan) string {
	if s, ok := p.AtKnee(); ok && s.Lobbies > 1 {
		return count(s.Lobbies) + " lobbies"
	}
	return "one lobby"
}

// why says in one sentence why the knee is where it is.
func why(p Plan) string {
	k := p.Knee
	switch {
	case len(p.Steps) == 0:
		return "Nothing was measured yet: no step of the plan has come to its end, " +
			"so nothing can be said about this machine."
	case k.Bound == search.Measured && k.Players > 0:
		return fmt.Sprintf("With a probability of 90 %% the knee is %s, %s; %s is what limits it.", p.KneeInterval(),
			k.Reason, k.Term)
	case k.Bound == search.Measured:
		return "The service level holds at no size: " + k.Reason + "."
	case k.Players == 0:
		return "There is no answer yet: " + k.Reason + "."
	default:
		return "This is a lower bound: " + k.Reason + "."
	}
}

// KneeInterval is the interval of the knee in words: "620 to 690 players".
func (p Plan) KneeInterval() string { return p.Interval(p.Knee.Low, p.Knee.High) }

// Interval names sizes from low to high, or at least low where high is 0.
func (p Plan) Interval(low, high int) string {
	each := max(p.LobbyPlayers, 1)
	switch high {
	case 0:
		return "at least " + p.Growth(low)
	case low:
		return p.Growth(low)
	}
	return fmt.Sprintf("%s to %s", count(low/each), p.Growth(high))
}

// termWords are the intervals of the knees of all terms.
func (p Plan) termWords() string {
	var all []string
	for _, t := range p.Knee.Terms {
		all = append(all, t.Term+": "+p.Interval(t.Low, t.High))
	}
	return strings.Join(all, "; ")
}

// Nearest is the size of the step that stands for the knee, 0 where none held.
func (p Plan) Nearest() int {
	s, _ := p.AtKnee()
	return s.Players
}

// facts are the figures of the step nearest to the knee.
func facts(p Plan) []fact {
	s, ok := p.AtKnee()
	if !ok {
		return nil
	}
	all := []fact{
		{"Measured nearest to the knee", p.Growth(s.Players), ""},
		{"p99 tick", number(s.LongerTick().P99), fmt.Sprintf("of %s ms; CPU %s", number(p.SLO.TickLimitMillis),
			number(s.TickCPUMillis.P99))},
		{"Server CPU", number(s.ServerCores), "cores"},
		{"Down, each client", number(s.KbpsDownPerClient), "kbit/s"},
		{"Down, all clients", number(s.KbpsDownPerClient * float64(s.Players) / 1000), "Mbit/s"},
		{"p99 snapshot age", number(s.SnapshotAgeMillis.P99), "of " + number(p.SLO.AgeLimitMillis) + " ms"},
		{"One more player", number(1000 * p.Fit.Total.Marginal(s.Players)), "µs a tick"},
	}
	if f := p.Floor; f != nil && f.Steps > 0 {
		all = append(all, fact{"CPU, each player", number(1e3 * f.PlayerMillis), "µs a tick"},
			fact{"Tick", times(f.Tick), "times its datagrams alone"},
			fact{"Process", times(f.Process), "times its datagrams alone"})
	}
	if g := p.Games; g != nil {
		all = append(all, fact{"Games a core", number(g.PerCore), g.how()})
	}
	if _, percent, ok := s.Encryption(); ok {
		all = append(all, fact{"Encryption", number(percent), "% of the tick"})
	}
	if s.Bytes != nil && len(s.Bytes.Cells) > 0 {
		most := s.Bytes.Components()[0]
		all = append(all, fact{"Bytes down: " + most.Name, number(most.Percent),
			"% of " + number(s.Bytes.PerSecond()) + " B/s"})
	}
	return all
}

// notes say under which conditions the plan was measured.
func notes(p Plan) []fact {
	movement := p.Movement
	if movement == "" {
		movement = "not recorded"
	}
	n := []fact{{"Service level", p.SLO.Expr, ""}, {"Movement", movement, ""}}
	if p.Near != nil {
		n = append(n, fact{"Near the knee", p.Near.words(), ""})
	}
	if len(p.Knee.Terms) > 1 {
		n = append(n, fact{"Knee of each term", p.termWords(), ""})
	}
	if p.Floor != nil {
		n = append(n, fact{"Floor", p.Floor.Words(), ""})
	}
	switch voids := p.Voids(); {
	case voids > 0:
		text := fmt.Sprintf("%d of %d; what they measured is in the table but not in the charts, "+
			"the knee or the fit", voids, len(p.Steps))
		n = append(n, fact{"Void steps", text, ""})
	case len(p.Steps) > 0:
		n = append(n, fact{"Void steps", "none: the swarm kept its schedule in every step", ""})
	}
	return n
}

// rows are the steps by size, repeats in their order.
func rows(p Plan) []row {
	var all []row
	for _, s := range p.Steps {
		verdict := "failed"
		if s.Void {
			verdict = "void"
		} else if s.Pass {
			verdict = "passed"
		}
		all = append(all, row{s, verdict})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Players < all[j].Players })
	return all
}

// Reason is why a row is not a pass, empty where it is.
func (r row) Reason() string {
	if r.Void {
		return r.VoidReason
	}
	if r.Cause != "" {
		return strings.Join(append(slices.Clone(r.Failed), r.Cause), "; ")
	}
	return strings.Join(r.Failed, "; ")
}

// calls are the functions of figures in a term of a service level.
var calls = regexp.MustCompile(`\w+\(\w+\)`)

// Missed names the figures of the terms that a row misses, empty where there are none.
func (r row) Missed() string {
	return strings.Join(calls.FindAllString(strings.Join(r.Failed, " "), -1), ", ")
}

// stages is the table of stages. A stage that a step does not name is a dash.
func stages(p Plan) stageTable {
	var t stageTable
	for _, curve := range p.Fit.Stages {
		t.Names = append(t.Names, curve.Name)
	}
	for _, r := range rows(p) {
		if r.Void || len(t.Names) == 0 {
			continue
		}
		cells := make([]string, len(t.Names))
		for i, name := range t.Names {
			cells[i] = "–"
			for _, stage := range r.StageCPUMillis {
				if stage.Name == name {
					cells[i] = number(1000 * stage.Mean)
				}
			}
		}
		t.Rows = append(t.Rows, stageRow{r.Players, cells})
	}
	return t
}

// Micros is A in microseconds, PlayerMicros B, and PairNanos C in nanoseconds: they read better than
// parts of a millisecond.
func (c curveRow) Micros() float64       { return 1e3 * c.A }
func (c curveRow) PlayerMicros() float64 { return 1e3 * c.B }
func (c curveRow) PairNanos() float64    { return 1e6 * c.C }

// Share writes R²; a dash where it must be 1.
func (c curveRow) Share() string {
	if c.R2 == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *c.R2)
}

// missOf writes the largest residual of a curve; a dash where it must be 0.
func missOf(c measure.Curve, percent float64) string {
	if c.R2 == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", percent)
}

// curves are the rows of the fit, the whole tick last.
func curves(p Plan) []curveRow {
	var all []curveRow
	for i, c := range append(append([]measure.Curve{}, p.Fit.Stages...), p.Fit.Total) {
		if c.Parts == 0 {
			continue
		}
		worst := 0.0
		for _, r := range c.Residuals {
			if r.Measured > 0 {
				worst = max(worst, 100*max(r.Fitted/r.Measured-1, 1-r.Fitted/r.Measured))
			}
		}
		all = append(all, curveRow{c, 1000 * c.At(p.Knee.Players, p.Knee.Players), missOf(c, worst),
			i == len(p.Fit.Stages)})
	}
	return all
}
