package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/report"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/search"
	"github.com/tickrate/tickrate/bench/simbench"
)

// PlanConfig are the settings of a plan.
type PlanConfig struct {
	// First and largest size of the search: players of a lobby, or lobbies where those grow. Start
	// 0: a simulation estimates it.
	Start, Max int
	// No step begins that would end after Limit, counted from the plan's start.
	Limit time.Duration
	// Sizes to measure in place of a search, in the unit of Start. Each is measured once, and once
	// more for each repeat.
	Sizes     []int
	Tolerance float64 // wanted half width of the knee's interval, as a part of the knee; 0: default
	Commit    string  // of this build, for the report
	Command   string  // command line that reproduces the plan
	Save      func(report.Plan) error
}

// planRun is a plan while it runs.
type planRun struct {
	*Runner
	cfg    PlanConfig
	plan   report.Plan
	search search.Search
	sizes  *search.Sizes // in place of the search; nil: the plan searches
}

// knee is the knee so far.
func (p *planRun) knee() search.Knee {
	if p.sizes != nil {
		return p.sizes.Knee()
	}
	return p.search.Knee()
}

// Plan finds the knee. Then it compares codecs or, where lobbies share a
// process, plays one lobby alone. It calls Save before the first step and after every step: a plan
// that is killed leaves the steps so far. An interrupt ends it without an error, with Partial set.
func (r *Runner) Plan(ctx context.Context, cfg PlanConfig) (report.Plan, error) {
	sc := r.cfg.Scenario
	p := planRun{Runner: r, cfg: cfg, plan: report.Plan{
		Machine: r.cfg.Description, Commit: cfg.Commit, Seed: sc.Play.Seed, Started: time.Now(),
		Scenario: sc.Name, Movement: r.cfg.Movement, SLO: r.cfg.Objective.Level(),
		Command: cfg.Command, Config: r.Settings(),
	}}
	// Sizes of the search are players in all lobbies, and multiples of Each: it is one player in
	// every lobby or, where lobbies grow, the players of one lobby.
	p.search = search.Search{Objective: r.cfg.Objective, Tolerance: cfg.Tolerance, Limit: cfg.Limit,
		Max: sc.At(cfg.Max).Total(), Each: sc.Lobby.Lobbies}
	if sc.Lobby.Grow == "lobbies" {
		p.search.Each, p.plan.LobbyPlayers = sc.Lobby.Players, sc.Lobby.Players
	}
	p.search.Words = p.plan.Growth
	p.giveSizes(sc)
	if err := p.save(); err != nil {
		return p.plan, err
	}
	if o := r.cfg.Observer; o.Search != nil {
		o.Search(p.plan.SLO, p.plan.Machine, p.plan.Movement, cfg.Limit)
	}
	err := p.find(ctx, sc)
	if err == nil && ctx.Err() == nil {
		err = p.simulate(ctx, sc)
	}
	p.plan.Partial = ctx.Err() != nil
	p.plan.Took, p.plan.Knee = measure.Span{Duration: time.Since(p.plan.Started)}, p.knee()
	p.plan.Fit = measure.Fit(p.plan.Steps)
	if s, ok := p.plan.AtKnee(); ok {
		p.plan.Units = s.Units()
	}
	return p.plan, cmp.Or(err, cfg.Save(p.plan)) // the first error is the one to tell
}

// giveSizes puts the sizes of the configuration in place of the search, if there are any.
func (p *planRun) giveSizes(sc scenario.Scenario) {
	if len(p.cfg.Sizes) == 0 {
		return
	}
	for _, n := range p.cfg.Sizes {
		p.plan.Sizes = append(p.plan.Sizes, sc.At(n).Total())
	}
	p.sizes = &search.Sizes{Objective: p.Runner.cfg.Objective, Players: p.plan.Sizes,
		Rounds: 1 + sc.Measure.Repeat, Limit: p.cfg.Limit,
		Each: p.search.Each, Words: p.plan.Growth}
}

// find measures the sizes that are given, or searches for the knee.
func (p *planRun) find(ctx context.Context, sc scenario.Scenario) error {
	if p.sizes != nil {
		return p.measureSizes(ctx)
	}
	p.search.Start = sc.At(p.cfg.Start).Total()
	if p.cfg.Start == 0 {
		p.search.Start = min(p.estimateStart(ctx), p.search.Max)
	}
	return p.measure(ctx)
}

// measureSizes measures the sizes that are given.
func (p *planRun) measureSizes(ctx context.Context) error {
	for ctx.Err() == nil {
		players, round, more := p.sizes.Next(time.Since(p.plan.Started))
		if !more {
			return nil
		}
		if err := p.measureStep(ctx, players, func(step measure.Step) measure.Step {
			step.Repeat = round
			return p.sizes.Record(step)
		}); err != nil {
			return err
		}
	}
	return nil
}

// measureStep measures a step and adds it to the plan, with the verdict of judge. A step that an
// interrupt cuts short is not added: it proves nothing.
func (p *planRun) measureStep(ctx context.Context, players int, judge func(measure.Step) measure.Step) error {
	captures := p.Runner.cfg.Captures
	if err := captures.begin(); err != nil {
		return err
	}
	step, err := p.Step(ctx, players)
	if ctx.Err() != nil {
		return captures.end(&measure.Step{Void: true})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.plan.Growth(players), err)
	}
	step = judge(step)
	if err := captures.end(&step); err != nil {
		return err
	}
	return p.add(step)
}

// add adds a judged step to the plan, reports it to the observer, and saves the plan.
func (p *planRun) add(step measure.Step) error {
	p.plan.Steps = append(p.plan.Steps, step)
	if o := p.Runner.cfg.Observer; o.Step != nil {
		o.Step(step)
	}
	return p.save()
}

// simulate adds the results of virtual time: the tick of one lobby alone where lobbies share a
// process, else a comparison of the codecs.
func (p *planRun) simulate(ctx context.Context, sc scenario.Scenario) (err error) {
	o := p.Runner.cfg.Observer
	if !sc.SharedProcess() {
		o.note("comparing codecs")
		p.plan.Codecs, err = simbench.CompareCodecs(ctx, sc)
		return err
	}
	o.note("simulating one lobby")
	defer p.Runner.unpin()()
	p.plan.Warm, err = simbench.WarmTick(ctx, sc, p.Runner.cfg.Brain)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// measure searches for the knee.
func (p *planRun) measure(ctx context.Context) error {
	for ctx.Err() == nil {
		players, more := p.search.Next(time.Since(p.plan.Started))
		if !more {
			return nil
		}
		if err := p.measureStep(ctx, players, p.search.Record); err != nil {
			return err
		}
	}
	return nil
}

// save saves the plan so far, as a partial one.
func (p *planRun) save() error {
	part := p.plan
	part.Partial, part.Knee = true, p.knee()
	part.Took = measure.Span{Duration: time.Since(part.Started)}
	return p.cfg.Save(part)
}

// estimateStart estimates a size to begin with. It simulates a lobby of 128 players, and scales to
// the size whose tick takes three quarters of the service level's limit.
func (p *planRun) estimateStart(ctx context.Context) int {
	p.Runner.cfg.Observer.note("estimating a size to begin with")
	s := p.Runner.cfg.Scenario
	s.Lobby.Players, s.Lobby.Spectators, s.Play.Traces, s.Network.Link = 128, 0, nil, "clean"
	s.Measure.Duration, s.Measure.Warmup = scenario.Duration(time.Second), scenario.Duration(time.Second)
	var ticks simbench.LeastTicks
	err := ticks.Play(ctx, s, simbench.Probe{})
	p99 := ticks.Sum(s.Lobby.Players).TickCPUMillis.P99
	if err != nil || p99 <= 0 {
		return search.DefaultStart
	}
	// A simulation makes no system calls. They take about as long as the rest of a tick: hence 2.
	// The load grows a little faster than the number of players: hence the exponent.
	room := 0.75 * p.plan.SLO.TickLimitMillis / (2 * p99)
	return max(16, int(128*math.Pow(room, 0.85))/10*10)
}
