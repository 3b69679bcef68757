package report

import (
	"fmt"
	"strings"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/internal/stage"
)

// Games is what lobbies cost that share a process: its CPU time by tick and game, and how many of
// them a processor carries.
type Games struct {
	Lobbies int     `json:"lobbies"` // of the largest step that held the service level, or was measured
	Held    bool    `json:"held"`
	Cores   float64 `json:"cores"` // CPU time of the process there, system calls included
	Swarm   float64 `json:"swarm_cores"`
	// Lobbies divided by Cores; extrapolated unless every loop was busy all the time.
	PerCore      float64 `json:"per_core"`
	Extrapolated bool    `json:"extrapolated"`
	Bound        string  `json:"bound"`             // what ends the growth
	TickMillis   float64 `json:"tick_ms"`           // CPU time of the process, by tick and game
	WarmMillis   float64 `json:"warm_ms"`           // of a tick alone in virtual time; 0: not simulated
	MemoryBytes  float64 `json:"memory_bytes"`      // resident, by lobby
	LatePeriods  float64 `json:"late_p999_periods"` // p99.9 of a tick's lateness, in periods
	Stages       []Stage `json:"stages_ms"`         // by tick and game; the last is the rest of the process
	CallMillis   float64 `json:"call_p99_ms"`       // p99 of a call of the loop
}

// Stage is the time of a stage in a running server, and of the same stage alone in virtual time, ms.
type Stage struct {
	Name string  `json:"name"`
	Live float64 `json:"live"`
	Warm float64 `json:"warm"` // system calls are none in virtual time
}

// fullCore is the share of a processor from which a thread counts as busy all the time.
const fullCore = 0.9

// serverFull reports whether the server used all of the processors that its loops can use. Games a
// core are then measured, else extrapolated.
func serverFull(s measure.Step) bool {
	return s.ServerCores >= fullCore*float64(max(1, len(s.LoopCallMillis)))
}

// swarmFull reports whether the swarm used all that it can: one thread drives it, however many
// processors there are.
func swarmFull(s measure.Step) bool { return s.SwarmCores >= fullCore }

// games sums up the step at the knee, or the largest that is not void if none held. It is nil for
// lobbies that do not share a process.
func (p Plan) games() *Games {
	s, ok := p.AtKnee()
	for _, other := range p.Steps {
		if !ok && !other.Void && other.Fault == "" && other.Players >= s.Players {
			s = other
		}
	}
	if len(s.LoopCallMillis) == 0 || s.ServerCores <= 0 {
		return nil
	}
	lobbies, hz := float64(s.Lobbies), float64(p.SLO.TickHz)
	g := &Games{Lobbies: s.Lobbies, Held: ok, Cores: s.ServerCores, Swarm: s.SwarmCores,
		PerCore: lobbies / s.ServerCores, Extrapolated: !serverFull(s), Bound: p.bound(),
		TickMillis: 1e3 * s.ServerCores / (lobbies * hz), MemoryBytes: s.MemoryBytes / lobbies,
		LatePeriods: s.LatenessMillis.P999 / 1e3 * hz}
	for _, call := range s.LoopCallMillis {
		g.CallMillis = max(g.CallMillis, call.P99)
	}
	g.addStages(s, p.Warm)
	return g
}

// how says in a few words whether PerCore was measured.
func (g *Games) how() string {
	if g.Extrapolated {
		return fmt.Sprintf("extrapolated from %d on %s cores", g.Lobbies, number(g.Cores))
	}
	return fmt.Sprintf("%d on %s cores", g.Lobbies, number(g.Cores))
}

// Words sum up the games in sentences: how many a core carries, what bounds them, what each takes.
func (g *Games) Words() (all []string) {
	held := fmt.Sprintf("%s held the service level with %s cores", plural(g.Lobbies, "game", "games"),
		number(g.Cores))
	if !g.Held {
		held = fmt.Sprintf("none held the service level; %s took %s cores", plural(g.Lobbies, "game", "games"),
			number(g.Cores))
	}
	how := "measured"
	if g.Extrapolated {
		how = "extrapolated from the CPU time used"
	}
	all = append(all, fmt.Sprintf("%.0f games a core (%s): %s", g.PerCore, how, held))
	tick := fmt.Sprintf("a tick of a game takes %s µs of CPU in all", number(1000*g.TickMillis))
	if g.WarmMillis > 0 {
		tick += fmt.Sprintf(", %s µs alone in virtual time", number(1000*g.WarmMillis))
	}
	return append(all, "bound by "+g.Bound, tick,
		fmt.Sprintf("lateness p99.9 %s periods; a call of the loop p99 %s ms; the swarm used %s cores",
			number(g.LatePeriods), number(g.CallMillis), number(g.Swarm)),
		fmt.Sprintf("%s MB of memory a game, the process shared among them", number(g.MemoryBytes/1e6)))
}

// addStages makes the table of stages. Systems of the match are one.
func (g *Games) addStages(s measure.Step, warm []measure.Stage) {
	at := map[string]int{}
	add := func(st measure.Stage, to func(*Stage) *float64) {
		name := stage.GroupOf(st.Name)
		i, known := at[name]
		if !known {
			i = len(g.Stages)
			at[name] = i
			g.Stages = append(g.Stages, Stage{Name: name})
		}
		*to(&g.Stages[i]) += st.Mean
	}
	rest := g.TickMillis
	for _, st := range s.StageCPUMillis {
		add(st, func(x *Stage) *float64 { return &x.Live })
		rest -= st.Mean
	}
	for _, st := range warm {
		st.Mean = max(st.Mean, 0) // the clocks' own cost is taken off: a stage of nothing is about 0
		add(st, func(x *Stage) *float64 { return &x.Warm })
		g.WarmMillis += st.Mean
	}
	g.Stages = append(g.Stages, Stage{Name: "rest", Live: max(rest, 0)})
}

// bound says what ends the growth: the processors of the loops, lateness, a fault, the swarm, the
// machine, or the search itself.
func (p Plan) bound() string {
	k := p.Knee
	if k.Swarm {
		return "the swarm: it did not keep its schedule at the next size"
	}
	if k.Stalled {
		return "the machine, which stalled"
	}
	if k.Bound != search.Measured {
		return "the search: " + k.Reason
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := p.Steps[i]
		if s.Players != k.FailedAt || s.Void {
			continue
		}
		why := strings.Join(s.Failed, "; ")
		switch {
		case s.Fault != "":
			return "a fault: " + s.Fault
		case serverFull(s):
			return fmt.Sprintf("CPU of the loop: %.2f cores", s.ServerCores)
		case swarmFull(s):
			return "the swarm: its thread was busy all the time where the level failed (" + why + ")"
		}
		return fmt.Sprintf("lateness, at %.2f cores: %s", s.ServerCores, why)
	}
	return k.Reason
}

// Growth names sizes of the plan: lobbies where those grow, else players.
func (p Plan) Growth(players int) string {
	if p.LobbyPlayers == 0 {
		return plural(players, "player", "players")
	}
	return plural(players/p.LobbyPlayers, "lobby", "lobbies") + fmt.Sprintf(" of %d", p.LobbyPlayers)
}

// plural writes a number of things with separators.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
