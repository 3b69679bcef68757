package main

import (
	"context"
	"runtime"

	"github.com/tickrate/tickrate/bench/capacity"
	"github.com/tickrate/tickrate/bench/scenario"
)

// pacer tells how fast the machine is while something is measured, by a lobby that is always the same: processors change their pace within minutes by as much as a prediction may be off.
type pacer struct {
	plays int
	usual float64 // CPU µs of a tick of that lobby, which all times are as if it had taken; 0: what it takes first
}

// paceLobby is that lobby: of 48 players, and so many matches of it.
var paceLobby = lesson{players: 48, hz: 60, every: 3, unlike: "again=2"}

const paceMatches = 4

// timed measures so many matches of a scenario and scales their times to the usual pace.
func (p *pacer) timed(ctx context.Context, s scenario.Scenario, matches int) (capacity.Step, error) {
	step, pace, err := p.beside(ctx, s, matches)
	if err != nil {
		return step, err
	}
	return step.Paced(1 / pace), nil
}

// beside measures so many matches of a scenario, and how many times as long as usual the pace lobby took beside them: 1.04 is 4 % slower. The step's times are as they were. Both
// are played in turn, so bursts of what else the machine does meet either as they meet the other, and of both the least of plays that lie as far apart counts. Played in one
// piece, two seconds before and behind, the pace lobby was within such a burst twice in a row now and then: one lobby of 24 players was said to take 0.7 times what it does.
func (p *pacer) beside(ctx context.Context, s scenario.Scenario, matches int) (step capacity.Step, pace float64, err error) {
	runtime.LockOSThread() // for its CPU time
	defer runtime.UnlockOSThread()
	own, beat := newRehearsal(s, matches, p.plays, slowdown{}), newRehearsal(paceLobby.scenario(matchSeconds/2), paceMatches, p.plays, slowdown{})
	for range p.plays {
		for _, r := range []*rehearsal{beat, own} {
			if err := r.round(ctx); err != nil {
				return capacity.Step{}, 0, err
			}
		}
	}
	return own.step(), p.of(1000 * beat.step().TickCPUMillis.Mean), nil
}

// of is the pace at which a tick of the pace lobby takes so long.
func (p *pacer) of(us float64) float64 {
	if p.usual == 0 {
		p.usual = us
	}
	return us / p.usual
}
