package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/bench/slo"
)

// sampleGames is a plan that grew lobbies of ten in one process: 20, 40 and 80 held, 100 did not.
func sampleGames() Plan {
	p := Plan{Scenario: "duels", Command: "tickrate plan --scenario duels", LobbyPlayers: 10,
		SLO: slo.Level{TickHz: 128, SendEvery: 2}.WithDefaults(), Took: measure.Span{Duration: time.Minute},
		Warm: []measure.Stage{{Name: "receive", Mean: 0.002}, {Name: "move", Mean: 0.003}, {Name: "fire", Mean: 0.001},
			{Name: "snapshot", Mean: 0.006}, {Name: "seal", Mean: 0.001}, {Name: "send", Mean: 0.0005}}}
	find := search.Search{Objective: slo.MustCompile(p.SLO), Each: 10, Max: 2000, Words: p.Growth}
	for _, n := range []int{20, 40, 80, 100} {
		lobbies := float64(n)
		s := measure.Step{Players: 10 * n, Lobbies: n, Processes: 1, Duration: measure.Span{Duration: 6 * time.Second},
			TickCPUMillis:  measure.Quantiles{P50: 0.05, P99: 0.1, Mean: 0.06},
			TickWallMillis: measure.Quantiles{P50: 0.05, P99: 0.1, Mean: 0.06},
			LatenessMillis: measure.Quantiles{P50: 0.1, P99: 0.9, P999: 1.5},
			LoopCallMillis: []measure.Quantiles{{P50: 0.6, P99: 1.1, Mean: 0.62}},
			ServerCores:    0.05 + 0.0095*lobbies, SwarmCores: 0.009 * lobbies, MemoryBytes: 1e6 * (40 + 2*lobbies),
			SnapshotAgeMillis: measure.Quantiles{P50: 16, P99: 22}, InputsExpected: uint64(n) * 7680,
			StageCPUMillis: []measure.Stage{{Name: "receive", Mean: 0.014}, {Name: "open", Mean: 0.007},
				{Name: "move", Mean: 0.006}, {Name: "fire", Mean: 0.004}, {Name: "capture", Mean: 0.004},
				{Name: "snapshot", Mean: 0.012}, {Name: "seal", Mean: 0.003}, {Name: "send", Mean: 0.02}}}
		if n == 100 {
			s.SnapshotAgeMillis.P99 = 40
		}
		p.Steps = append(p.Steps, find.Record(s))
	}
	p.Knee = find.Knee()
	return p
}

// A plan of lobbies in one process says how many a core carries, what bounds them, what a tick of a
// game takes by stage beside one alone, and memory.
func TestGamesGolden(t *testing.T) {
	p := sampleGames().Clean()
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n%s\n", headline(p), why(p), strings.Join(p.Games.Words(), "\n"))
	for _, st := range p.Games.Stages {
		fmt.Fprintf(&text, "%-9s %8.1f %8.1f\n", st.Name, 1e3*st.Live, 1e3*st.Warm)
	}
	if err := WriteBench(&text, p); err != nil {
		t.Fatal(err)
	}
	golden(t, "games.golden.txt", text.String())
	golden(t, "outline-games.golden.txt", outline(render(t, p)))
}

// What bounds is told apart: CPU of the loop, lateness, the swarm, the machine, the search.
func TestGamesBound(t *testing.T) {
	for _, c := range []struct {
		change func(*Plan)
		want   string
	}{
		{func(*Plan) {}, "CPU of the loop: 1.00 cores"},
		{func(p *Plan) { p.Steps[3].ServerCores = 0.5; p.Steps[3].SwarmCores = 0.5 }, "lateness, at 0.50 cores: "},
		{func(p *Plan) { p.Steps[3].ServerCores = 0.5; p.Steps[3].SwarmCores = 0.97 }, "the swarm: "},
		{func(p *Plan) { p.Knee.Swarm = true }, "the swarm: "},
		{func(p *Plan) {
			p.Steps[3].LoopCallMillis = make([]measure.Quantiles, 2)
			p.Steps[3].SwarmCores = 0.5
		}, "lateness, at 1.00 cores: "},
		{func(p *Plan) { p.Knee.Stalled = true }, "the machine, "},
		{func(p *Plan) { p.Knee.Bound = search.AtLeast }, "the search: "},
		{func(p *Plan) { p.Steps[3].Fault = "out of memory" }, "a fault: out of memory"},
	} {
		p := sampleGames()
		c.change(&p)
		if g := p.games(); g == nil || !strings.HasPrefix(g.Bound, c.want) {
			t.Errorf("%+v, want %s", g, c.want)
		}
	}
	apart := sampleGames()
	for i := range apart.Steps {
		apart.Steps[i].LoopCallMillis = nil
	}
	if g := apart.games(); g != nil {
		t.Errorf("a process for each lobby: %+v", g)
	}
}

// Where less than a processor was used, games a core are an extrapolation, and are called one.
func TestGamesAreExtrapolated(t *testing.T) {
	p := sampleGames()
	if g := p.games(); !g.Extrapolated || !strings.Contains(g.Words()[0], "extrapolated") {
		t.Errorf("%+v", g)
	}
	p.Steps[2].ServerCores = 0.95
	if g := p.games(); g.Extrapolated || !strings.Contains(g.Words()[0], "(measured)") {
		t.Errorf("%+v", g)
	}
	p.Steps[2].LoopCallMillis = make([]measure.Quantiles, 2)
	if g := p.games(); !g.Extrapolated {
		t.Errorf("two loops with 0.95 cores: %+v", g)
	}
	p.Steps[2].ServerCores = 1.85
	if g := p.games(); g.Extrapolated {
		t.Errorf("two loops with 1.85 cores: %+v", g)
	}
}

// A plan that did not play the tick alone says nothing of it.
func TestGamesWithoutVirtualTime(t *testing.T) {
	p := sampleGames()
	p.Warm = nil
	p = p.Clean()
	page := render(t, p)
	if text := strings.Join(p.Games.Words(), "\n"); strings.Contains(text, "alone") ||
		strings.Contains(page, "alone, µs") || strings.Contains(page, "Alone is one lobby") {
		t.Error(text)
	}
}
