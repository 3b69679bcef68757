package simbench

import (
	"cmp"
	"context"
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

// Least is what one match costs when the machine disturbs it least: the match is played several
// times, and of each tick the least time counts, stage by stage.
type Least struct {
	Stages         []measure.Stage // µs a tick
	BytesPerClient float64         // UDP payload a second
	TickCPUMillis  measure.Quantiles
	Events         *perfevent.Counts // of the lobby alone, by player and tick; nil: not counted
}

// PlayLeast plays a scenario's lobby several times. It binds the calling goroutine to its thread
// meanwhile, since CPU time is that of a thread.
func PlayLeast(ctx context.Context, s scenario.Scenario, plays int, p Probe) (Least, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var l leastTicks
	for range plays {
		if err := l.play(ctx, s, p); err != nil {
			return Least{}, err
		}
	}
	return l.sum(float64(s.Lobby.Players)), nil
}

// Probe is what watches a lobby that is played, or disturbs it. Functions that are nil are not
// called.
type Probe struct {
	// Burn gets the time of each stage, and takes more in some on purpose.
	Burn func(stage string, took time.Duration)
	// Count reads counters of the calling thread, before and after each tick of the lobby.
	Count func() (perfevent.Counts, error)
}

// leastTicks is the least time of each stage in each tick of a match that is played several times.
type leastTicks struct {
	ticks  [][]time.Duration // by tick, by stage
	bytes  float64           // to a client a second
	events *perfevent.Counts // of all ticks together, each the least of all plays; nil: not counted
}

// play plays the match once more.
func (l *leastTicks) play(ctx context.Context, s scenario.Scenario, probe Probe) error {
	p := stagePlay{s: s, probe: probe}
	if err := p.run(ctx); err != nil {
		return err
	}
	if l.bytes = p.bytes; l.ticks == nil {
		l.ticks = p.ticks
	}
	if probe.Count != nil && l.events == nil {
		l.events = &p.events
	} else if probe.Count != nil {
		l.events.Least(p.events)
	}
	for i, stages := range p.ticks {
		for k, took := range stages {
			l.ticks[i][k] = min(l.ticks[i][k], took)
		}
	}
	return nil
}

// sum is the cost of the match of a number of players.
func (l *leastTicks) sum(players float64) Least {
	out := Least{BytesPerClient: l.bytes}
	if l.events != nil {
		out.Events = new(l.events.Each(players * float64(len(l.ticks))))
	}
	whole := make([]float64, len(l.ticks)) // ms
	for k := range metrics.NumStages {
		each := make([]float64, len(l.ticks)) // µs
		for i := range l.ticks {
			each[i] = float64(l.ticks[i][k]) / 1e3
			whole[i] += each[i] / 1e3
		}
		q := measure.QuantilesOf(each)
		stage := measure.Stage{Name: metrics.Stage(k).String(), Mean: q.Mean, P99: q.P99}
		out.Stages = append(out.Stages, stage)
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
		if p.probe.Burn != nil {
			p.probe.Burn(p.stage.String(), now-p.since)
			now = clock.ThreadCPU()
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
