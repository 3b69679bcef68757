package agent

import (
	"context"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
)

// forever is longer than a step takes: it ends by its context.
const forever = 24 * time.Hour

// run plays the step and tells the owner of the machine what became of it.
func (p *play) run(ctx context.Context) {
	defer close(p.done)
	if err := p.playStep(ctx); err != nil && ctx.Err() == nil {
		p.tell(ctx, func(a *Agent) []Message { return a.Failed(p.step, err.Error()) })
	}
}

// tell runs do on the owner's goroutine, and sends what it returns.
func (p *play) tell(ctx context.Context, do func(*Agent) []Message) {
	event := func() { p.w.act(do(p.w.agent), Action{}) }
	select {
	case p.w.events <- event:
	case <-ctx.Done():
	}
}

// playStep connects the players, waits for the start, measures, and plays on until ctx ends: players
// that stop would be missed by those of other agents.
func (p *play) playStep(ctx context.Context) error {
	l, err := p.w.open(p.order)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.join(ctx); err != nil {
		return err
	}
	p.tell(ctx, func(a *Agent) []Message { return a.Joined(p.step) })
	m := p.order.scenario.Measure
	if err := l.run(ctx, forever, func() bool { return p.reached(time.Duration(m.Warmup)) }); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	late := time.Duration(p.w.Now() - p.start.Load() - int64(m.Warmup))
	r, err := p.measure(ctx, l, time.Duration(m.Duration))
	if err != nil {
		return err
	}
	r.StartLate = max(late, 0)
	p.tell(ctx, func(a *Agent) []Message { return a.Measured(p.step, r) })
	if err := l.run(ctx, forever, nil); err != nil || ctx.Err() != nil {
		return err
	}
	return errEarly
}

// reached reports whether it is a time after the common start.
func (p *play) reached(after time.Duration) bool {
	start := p.start.Load()
	return start != 0 && p.w.Now() >= start+int64(after)
}

// measure plays for the time d and returns what the players experienced in it.
func (p *play) measure(ctx context.Context, l *load, d time.Duration) (*Report, error) {
	l.reset()
	gaps := meter.NewHistogram(0, meter.Fine)
	hiccup := clock.NewHiccupOnSpare(clock.CPUs(), func(late time.Duration) { gaps.Record(int64(late)) })
	err := l.run(ctx, d, nil)
	hiccup.Stop()
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return newReport(l.figures, gaps, 0), nil
}
