package report

import (
	"math"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/bench/slo"
)

// Type says what JSON a plan.json is.
const Type = "plan"

// Version is the version of the plan.json that this package writes, described in docs/json.md.
const Version = 4

// Plan is a whole answer: the question, the machine, every step and what follows from the steps. A
// plan that was stopped early is a plan too, with Partial set.
type Plan struct {
	Type     string            `json:"type"` // Type
	Version  int               `json:"version"`
	Machine  measure.Machine   `json:"machine"`
	Commit   string            `json:"commit"`
	Seed     uint64            `json:"seed"`
	Started  time.Time         `json:"started"`
	Took     measure.Span      `json:"took_ms"`
	Command  string            `json:"command"`  // the line that repeats it
	Scenario string            `json:"scenario"` // its name
	Movement string            `json:"movement"` // where the players' movement came from
	Config   []measure.Setting `json:"config"`
	SLO      slo.Level         `json:"slo"`
	// Players of a lobby where lobbies grow; 0: players grow.
	LobbyPlayers int `json:"lobby_players,omitempty"`
	// Sizes that were given, in players; none: a search chose them.
	Sizes []int `json:"sizes,omitempty"`
	// Steps in the order in which they were measured, repeats and void ones included.
	Steps []measure.Step `json:"steps"`
	Knee  search.Knee    `json:"knee"`
	Fit   measure.Cost   `json:"fit"`
	// Units are what the server paid for each unit of work at the knee.
	Units  []measure.UnitCost `json:"units"`
	Codecs *measure.Codecs    `json:"codecs,omitempty"` // nil if they were not compared
	// Of one lobby alone in virtual time, caches warm, without system calls; none: not simulated.
	Warm []measure.Stage `json:"warm_tick_ms,omitempty"`
	// Of lobbies that share a process; nil: they do not.
	Games *Games `json:"games,omitempty"`
	// Steps within the interval of the knee; nil: fewer than two.
	Near *Near `json:"near_knee,omitempty"`
	// CPU time as a multiple of that of the datagrams alone; nil: not asked for.
	Floor   *Floor `json:"floor,omitempty"`
	Partial bool   `json:"partial"` // the search was cut short: the knee is a lower bound
}

// Clean returns p as it is written: version and defaults filled in, lists never null, and every
// number finite (a step with one that is not is void). The knee, the fit and the unit costs are
// derived from the steps when p has none.
func (p Plan) Clean() Plan {
	p.Type, p.Version = Type, Version
	objective, err := slo.Compile(p.SLO)
	if err == nil {
		p.SLO = objective.Level()
	}
	steps := make([]measure.Step, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = s.Finite()
		steps[i].Failed = append([]string{}, s.Failed...)
		if steps[i].StageCPUMillis == nil {
			steps[i].StageCPUMillis = []measure.Stage{}
		}
	}
	p.Steps = steps
	p.Config = append([]measure.Setting{}, p.Config...)
	if p.Knee.Bound == "" && err == nil {
		p.Knee = search.KneeOf(objective, p.Steps, p.LobbyPlayers, p.Growth)
	}
	p.Knee.Failed = append([]string{}, p.Knee.Failed...)
	p.Knee.Terms = append([]search.TermKnee{}, p.Knee.Terms...)
	if p.Near == nil {
		p.Near = nearKnee(p.Knee, p.Steps)
	}
	if p.Fit.Total.Parts == 0 {
		p.Fit = measure.Fit(steps)
	}
	if p.Fit.Stages == nil {
		p.Fit.Stages = []measure.Curve{}
	}
	if s, ok := p.AtKnee(); ok && p.Units == nil {
		p.Units = s.Units()
	}
	p.Units = append([]measure.UnitCost{}, p.Units...)
	if p.Floor == nil {
		p.Floor = p.floor()
	}
	if p.Games == nil {
		p.Games = p.games()
	}
	return p
}

// Voids counts the void steps.
func (p Plan) Voids() int {
	n := 0
	for _, s := range p.Steps {
		if s.Void {
			n++
		}
	}
	return n
}

// AtKnee is the step nearest to the knee, of those that held the service level; of several the last.
func (p Plan) AtKnee() (at measure.Step, ok bool) {
	nearest := math.Inf(1)
	for _, s := range p.Steps {
		far := math.Abs(math.Log(float64(s.Players) / float64(max(p.Knee.Players, 1))))
		if s.Pass && p.Knee.Players > 0 && far <= nearest {
			at, ok, nearest = s, true, far
		}
	}
	return at, ok
}

// Accounted is the step with the account of bytes that the report shows: at the knee or, where no
// size passed, the last step that is not void; false if there is none.
func (p Plan) Accounted() (measure.Step, bool) {
	s, ok := p.AtKnee()
	for i := len(p.Steps) - 1; i >= 0 && !ok; i-- {
		s = p.Steps[i]
		ok = !s.Void && s.Bytes != nil
	}
	return s, ok && s.Bytes != nil && s.Bytes.Received > 0
}
