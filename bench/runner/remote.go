package runner

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/netio/netcode"
)

// Remote plays the players of a step on other machines. Play returns when they have disconnected.
// Its error is one of this side.
type Remote interface {
	Play(ctx context.Context, s RemoteStep) (RemoteFigures, error)
}

// RemoteStep is what is played, and what is to be done with the servers meanwhile.
type RemoteStep struct {
	Scenario scenario.Scenario // with the step's size
	Servers  []RemoteServer    // lobby n is on server n modulo their count
	Begin    func()            // to be called when the measured time begins
	End      func()            // and when it has ended, while all players still play
}

// RemoteServer is where clients connect, and what is in their tokens.
type RemoteServer struct {
	At    netip.AddrPort // that clients dial: its own, or of a proxy before it
	Token netip.AddrPort // in tokens: its own
	Key   netcode.Key    // private, of its tokens
}

// RemoteFigures are the merged figures of all players.
type RemoteFigures struct {
	Figures *swarm.Figures
	Account *measure.Bytes   // of the sampled players of all machines
	Hiccup  *meter.Histogram // wake-up delays of idle threads on those machines, ns
	Agents  []measure.Agent
	Void    string // why the step says nothing about the server; "": it does
	AgeVoid string // why the age of snapshots does not stand; "": it does
}

// host is the address of the servers.
func (r *Runner) host() netip.Addr {
	if r.cfg.Host.IsValid() {
		return r.cfg.Host
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// remoteStep measures the servers while players on other machines play.
func (r *Runner) remoteStep(ctx context.Context, sc scenario.Scenario, servers *servers,
	players int) (measure.Step, error) {
	r.cfg.Observer.note("%d players: on other machines", players)
	var reset <-chan error
	var answers *hostAnswers // nil: the step did not come that far
	step := RemoteStep{Scenario: sc, Begin: func() { reset = servers.reset(ctx) }, End: func() {
		a := <-servers.stats(ctx)
		answers = &a
	}}
	for i, p := range servers.all {
		step.Servers = append(step.Servers, RemoteServer{servers.at[i], p.udp, p.key})
	}
	f, err := r.cfg.Remote.Play(ctx, step)
	if err != nil {
		return measure.Step{}, err
	}
	if answers == nil || f.Figures == nil || f.Void != "" && f.Figures.Sends == 0 {
		return measure.Step{Players: players, Void: true, VoidReason: f.Void, Agents: f.Agents}, nil
	}
	if err := <-reset; err != nil {
		return measure.Step{Players: players, Fault: err.Error(), Agents: f.Agents}, nil
	}
	hosts, err := answers.decode()
	if err != nil {
		return measure.Step{}, err
	}
	return r.remoteFigures(sc, players, hosts, f), nil
}

// remoteFigures joins the figures of the servers and of the other machines. The service level may
// name the age; a step with an age that does not stand is void then.
func (r *Runner) remoteFigures(sc scenario.Scenario, players int, hosts []hostFigures,
	f RemoteFigures) measure.Step {
	s := newStep(players, sc.Total()+sc.Spectators(), hosts, f.Figures, f.Account)
	s.SwarmHiccup, s.Agents = millis(f.Hiccup), f.Agents
	switch {
	case f.Void != "":
		s.VoidReason, s.Invalid = f.Void, false
	case f.AgeVoid != "" && r.cfg.Objective.Names("age"):
		s.VoidReason = fmt.Sprintf("the service level names the age of snapshots, which does not stand: %s",
			f.AgeVoid)
	}
	s.Void = s.VoidReason != ""
	blameStall(&s, sc.Rates.TickHz)
	return s
}
