package simbench

import (
	"context"
	"runtime"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/internal/clock"
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
}

// PlayLeast plays a scenario's lobby several times. Burn, if set, gets the time of each stage and
// burns more. The calling goroutine must be bound to its thread.
func PlayLeast(ctx context.Context, s scenario.Scenario, plays int, burn Burn) (Least, error) {
	var l leastTicks
	for range plays {
		if err := l.play(ctx, s, burn); err != nil {
			return Least{}, err
		}
	}
	return l.sum(), nil
}

// Burn takes more time in a stage that took some, on purpose.
type Burn func(stage string, took time.Duration)

// leastTicks is the least time of each stage in each tick of a match that is played several times.
type leastTicks struct {
	ticks [][]time.Duration // by tick, by stage
	bytes float64           // to a client a second
}

// play plays the match once more.
func (l *leastTicks) play(ctx context.Context, s scenario.Scenario, burn Burn) error {
	p := stagePlay{s: s, burn: burn}
	if err := p.run(ctx); err != nil {
		return err
	}
	if l.bytes = p.bytes; l.ticks == nil {
		l.ticks = p.ticks
	}
	for i, stages := range p.ticks {
		for k, took := range stages {
			l.ticks[i][k] = min(l.ticks[i][k], took)
		}
	}
	return nil
}

// sum is the cost of the match.
func (l *leastTicks) sum() Least {
	out := Least{BytesPerClient: l.bytes}
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
	burn  Burn
	ticks [][]time.Duration // measured, by stage
	bytes float64

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
		if err := m.Run(ctx, 1); err != nil {
			return err
		}
		p.ticks = append(p.ticks, p.spent)
	}
	clients := float64(p.s.Lobby.Players + p.s.Lobby.Spectators)
	p.bytes = float64(out.Load()-before) / clients / time.Duration(p.s.Measure.Duration).Seconds()
	return nil
}

// enter ends the current stage and begins the next.
func (p *stagePlay) enter(next metrics.Stage) {
	if next == p.stage {
		return
	}
	now := clock.ThreadCPU()
	if int(p.stage) < len(p.spent) {
		if p.burn != nil {
			p.burn(p.stage.String(), now-p.since)
			now = clock.ThreadCPU()
		}
		p.spent[p.stage] += now - p.since
	}
	p.stage, p.since = next, now
}
