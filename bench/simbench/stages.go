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

// benchDelay is the delay of links in comparisons of builds and of codecs: snapshots have baselines of some age.
const benchDelay = 40 * time.Millisecond

// Least is what one match costs when the machine disturbs it least: the match is played several times, and of each tick
// the least time counts, stage by stage.
type Least struct {
	Stages         []measure.Stage // µs a tick
	BytesPerClient float64         // UDP payload a second
	TickCPUMillis  measure.Quantiles
}

// PlayLeast plays a scenario's lobby several times. Burn, if set, is told what a stage took and burns more in it. The
// calling goroutine must be bound to its thread.
func PlayLeast(ctx context.Context, s scenario.Scenario, plays int, burn func(stage string, took time.Duration)) (Least, error) {
	var ticks [][]time.Duration // by tick, by stage
	var bytes float64
	for play := range plays {
		p := stagePlay{s: s, burn: burn}
		if err := p.run(ctx); err != nil {
			return Least{}, err
		}
		if bytes = p.bytes; play == 0 {
			ticks = p.ticks
			continue
		}
		for i, stages := range p.ticks {
			for k, took := range stages {
				ticks[i][k] = min(ticks[i][k], took)
			}
		}
	}
	l := Least{BytesPerClient: bytes}
	var whole []float64
	for _, stages := range ticks {
		sum := time.Duration(0)
		for _, took := range stages {
			sum += took
		}
		whole = append(whole, float64(sum)/1e6)
	}
	l.TickCPUMillis = measure.QuantilesOf(whole)
	for k := range metrics.NumStages {
		each := make([]float64, len(ticks))
		for i := range ticks {
			each[i] = float64(ticks[i][k]) / 1e3
		}
		q := measure.QuantilesOf(each)
		l.Stages = append(l.Stages, measure.Stage{Name: metrics.Stage(k).String(), Mean: q.Mean, P99: q.P99})
	}
	return l, nil
}

// stagePlay is one play, which reads the thread's clock whenever a stage begins.
type stagePlay struct {
	s     scenario.Scenario
	burn  func(stage string, took time.Duration)
	ticks [][]time.Duration // measured, by stage
	bytes float64

	spent []time.Duration // of the current tick; nil before the measured ones
	stage metrics.Stage
	since time.Duration
}

func (p *stagePlay) run(ctx context.Context) error {
	m, err := NewMatch(p.s, Options{Link: impair.Profile{Delay: benchDelay}, Lobby: func(c *server.Config) { c.EnterStage, c.ShotLogSize = p.enter, 0 }})
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
