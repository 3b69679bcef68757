package main

import (
	"context"
	"math"

	"github.com/tickrate/tickrate/bench/capacity"
)

// pacer tells how fast the machine is at the moment, by a lobby that is always the same: processors change their pace within minutes by as much as a prediction may be off.
type pacer struct {
	plays int
	usual float64                                // CPU µs of a tick of that lobby, which all times are as if it had taken
	last  float64                                // the newest
	tick  func(context.Context) (float64, error) // takes that time; nil: of paceLobby
}

// paceLobby is that lobby: of 48 players, and so many matches of it.
var paceLobby = lesson{players: 48, hz: 60, every: 3, unlike: "again=2"}

const paceMatches = 4

// A step is measured again where the lobby before it and the one behind it differ by more than paceSteady, as somebody else came or went in the meantime: so often at most, and the
// steadiest counts.
const (
	paceSteady = 0.02
	paceTries  = 4
)

// beat measures it anew.
func (p *pacer) beat(ctx context.Context) (err error) {
	tick := p.tick
	if tick == nil {
		tick = p.play
	}
	if p.last, err = tick(ctx); err == nil && p.usual == 0 {
		p.usual = p.last
	}
	return err
}

// play plays paceLobby.
func (p *pacer) play(ctx context.Context) (float64, error) {
	step, err := rehearse(ctx, paceLobby.scenario(matchSeconds/2), paceMatches, p.plays, slowdown{})
	return 1000 * step.TickCPUMillis.Mean, err
}

// timed measures a step between two beats and scales its times to the usual pace.
func (p *pacer) timed(ctx context.Context, measure func() (capacity.Step, error)) (capacity.Step, error) {
	step, pace, err := p.between(ctx, measure)
	if err != nil {
		return step, err
	}
	return step.Paced(1 / pace), nil
}

// between measures a step between two beats, and how many times as long as usual those took: 1.04 is 4 % slower. The step's times are as they were.
func (p *pacer) between(ctx context.Context, measure func() (capacity.Step, error)) (step capacity.Step, pace float64, err error) {
	if p.last == 0 {
		if err := p.beat(ctx); err != nil {
			return step, 0, err
		}
	}
	least := math.Inf(1)
	for range paceTries {
		before := p.last
		now, err := measure()
		if err == nil {
			err = p.beat(ctx)
		}
		if err != nil {
			return capacity.Step{}, 0, err
		}
		off := math.Abs(p.last-before) / min(p.last, before)
		if off < least {
			least, step, pace = off, now, (before+p.last)/(2*p.usual)
		}
		if off <= paceSteady {
			break
		}
	}
	return step, pace, nil
}
