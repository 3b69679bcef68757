package simbench

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/perfevent"
	"github.com/tickrate/tickrate/netio/impair"
	"github.com/tickrate/tickrate/server"
	"github.com/tickrate/tickrate/server/metrics"
)

// benchDelay is the delay of links in comparisons of builds and of codecs: snapshots have baselines
// of some age.
const benchDelay = 40 * time.Millisecond

// Least is what one match costs when the machine disturbs it least.
type Least struct {
	Stages         []measure.Stage // µs a tick
	BytesPerClient float64         // UDP payload a second
	TickCPUMillis  measure.Quantiles
	Events         *perfevent.Counts // of the lobby alone, by player and tick; nil: not counted
}

// Probe is what watches a lobby that is played, or disturbs it. Functions that are nil are not
// called.
type Probe struct {
	// Burn gets the time of each stage. It takes more in some on purpose, and returns true there.
	Burn func(stage string, took time.Duration) bool
	// Count reads counters of the calling thread, before and after each tick of the lobby.
	Count func() (perfevent.Counts, error)
}

// LeastTicks is the least time of each stage in each tick of one match that is played several times:
// all plays do the same work, so what differs is what disturbed them. The zero value has no plays.
type LeastTicks struct {
	Plays  int               `json:"plays"`
	Stages []string          `json:"stages"`           // names
	Nanos  [][]time.Duration `json:"nanos"`            // by tick, by stage
	Bytes  float64           `json:"bytes_per_client"` // UDP payload a second
	// Of all ticks together, each the least of all plays; nil: not counted.
	Events *perfevent.Counts `json:"events,omitempty"`
}

// Play plays a scenario's lobby once more. It binds the calling goroutine to its thread meanwhile,
// since CPU time is that of a thread.
func (l *LeastTicks) Play(ctx context.Context, s scenario.Scenario, probe Probe) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := stagePlay{s: s, probe: probe}
	if err := p.run(ctx); err != nil {
		return err
	}
	if l.Nanos == nil {
		l.Nanos = p.ticks
		for k := range metrics.NumStages {
			l.Stages = append(l.Stages, metrics.Stage(k).String())
		}
	}
	if len(l.Nanos) != len(p.ticks) {
		return fmt.Errorf("plays of one match: expected %d ticks as before, got %d", len(l.Nanos), len(p.ticks))
	}
	l.Plays, l.Bytes = l.Plays+1, p.bytes
	if probe.Count != nil && l.Events == nil {
		l.Events = &p.events
	} else if probe.Count != nil {
		l.Events.Least(p.events)
	}
	for i, stages := range p.ticks {
		for k, took := range stages {
			l.Nanos[i][k] = min(l.Nanos[i][k], took)
		}
	}
	return nil
}

// Sum is the cost of the match of a number of players.
func (l *LeastTicks) Sum(players int) Least {
	out := Least{BytesPerClient: l.Bytes}
	if l.Events != nil {
		out.Events = new(l.Events.Each(float64(players * len(l.Nanos))))
	}
	whole := make([]float64, len(l.Nanos)) // ms
	for k, name := range l.Stages {
		each := make([]float64, len(l.Nanos)) // µs
		for i := range l.Nanos {
			each[i] = float64(l.Nanos[i][k]) / 1e3
			whole[i] += each[i] / 1e3
		}
		q := measure.QuantilesOf(each)
		out.Stages = append(out.Stages, measure.Stage{Name: name, Mean: q.Mean, P99: q.P99})
	}
	out.TickCPUMillis = measure.QuantilesOf(whole)
	return out
}

// stagePlay is one play, which reads the thread's clock whenever a stage begins.
type stagePlay struct {
	s     scenario.Scenario
	probe Probe
	ticks [][]time.Duration // measured, by stage
	bytes float64

	events perfevent.Counts // in the measured ticks of the lobby
	before perfevent.Counts // when the current tick began
	failed error            // the first of Probe.Count

	spent []time.Duration // of the current tick; nil before the measured ones
	stage metrics.Stage
	since time.Duration
}

// run plays the match once and keeps the stages of the measured ticks.
func (p *stagePlay) run(ctx context.Context) error {
	m, err := NewMatch(p.s, Options{Link: impair.Profile{Delay: benchDelay},
		Lobby: func(c *server.Config) { c.EnterStage, c.ShotLogSize = p.enter, 0 }})
	if err != nil {
		return err
	}
	if err := m.Run(ctx, p.s.Ticks(p.s.Measure.Warmup)); err != nil {
		return err
	}
	runtime.GC() // the garbage of the set-up is not the ticks'
	out := &m.Lobby.Stats.Count[metrics.BytesOut]
	before := out.Load()
	for range p.s.Ticks(p.s.Measure.Duration) {
		p.spent = make([]time.Duration, metrics.NumStages)
		p.stage, p.since = metrics.StageIdle, clock.ThreadCPU()
		if err := cmp.Or(m.Run(ctx, 1), p.failed); err != nil {
			return err
		}
		p.ticks = append(p.ticks, p.spent)
	}
	clients := float64(p.s.Lobby.Players + p.s.Lobby.Spectators)
	p.bytes = float64(out.Load()-before) / clients / time.Duration(p.s.Measure.Duration).Seconds()
	return nil
}

// enter ends the current stage and begins the next. Counters are read outside of stages.
func (p *stagePlay) enter(next metrics.Stage) {
	if next == p.stage {
		return
	}
	if p.stage == metrics.StageIdle {
		p.before = p.count()
	}
	now := clock.ThreadCPU()
	if int(p.stage) < len(p.spent) {
		if p.probe.Burn != nil && p.probe.Burn(p.stage.String(), now-p.since) {
			now = clock.ThreadCPU() // only now: reading it takes time, too
		}
		p.spent[p.stage] += now - p.since
	}
	if p.stage, p.since = next, now; next == metrics.StageIdle {
		in := p.count().Since(p.before)
		for e := range in {
			p.events[e] += in[e]
		}
	}
}

// count reads the counters in a measured tick.
func (p *stagePlay) count() perfevent.Counts {
	if p.probe.Count == nil || p.spent == nil {
		return perfevent.Counts{}
	}
	n, err := p.probe.Count()
	p.failed = cmp.Or(p.failed, err)
	return n
}
