package agent

import (
	"context"

	"github.com/tickrate/tickrate/bench/runner"
)

// Remote lets a runner play its steps with the agents of a pool. note gets the verdict of each step
// as text; nil: it is not told.
type Remote struct {
	Pool *Pool
	Note func(text string)
}

// Play plays a step, as runner.Remote says.
func (r *Remote) Play(ctx context.Context, s runner.RemoteStep) (f runner.RemoteFigures, err error) {
	step := Step{Scenario: s.Scenario, Begin: s.Begin, End: s.End}
	for _, at := range s.Servers {
		step.Servers = append(step.Servers, Server(at))
	}
	v, err := r.Pool.Play(ctx, step)
	if err != nil {
		return f, err
	}
	if r.Note != nil {
		r.Note(v.Text())
	}
	return runner.RemoteFigures{Figures: v.Merged.Figures, Account: v.Merged.Account, Hiccup: v.Merged.Hiccup,
		Agents: v.standings(), Void: v.Void, AgeVoid: v.AgeVoid}, nil
}
