package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
)

// PredictConfig is how a scenario is predicted.
type PredictConfig struct {
	Repeats int // matches that are simulated
	// Predict the opening alone, which a live step measures, and not the steady state.
	Opening bool
	Commit  string // of this build
}

// Predict simulates the scenario of cfg, measures its sockets live, and adds the two. The runner
// that it returns can measure the same scenario live.
func Predict(ctx context.Context, cfg Config, how PredictConfig) (simbench.Prediction, *Runner, error) {
	sc := cfg.Scenario
	p := simbench.Prediction{Type: "prediction", Version: simbench.PredictionVersion, Commit: how.Commit, Scenario: sc,
		Repeats: how.Repeats}
	windows := simbench.Windows(sc)
	if how.Opening {
		windows = windows[:1]
	}
	cfg.Observer.note("simulating %d matches of %s: players join", how.Repeats, sc.Name)
	sims, err := simbench.Simulate(ctx, sc, simbench.Options{Brain: cfg.Brain,
		Played: func(match int, played, of time.Duration) {
			cfg.Observer.note("simulating %s: match %d of %d, %.0f s of %.0f", sc.Name, match+1, how.Repeats,
				played.Seconds(), of.Seconds())
		}}, windows, how.Repeats)
	if err != nil {
		return p, nil, err
	}
	r := New(cfg) // pins this process, which the simulation must not be
	p.Machine = r.cfg.Description
	for _, sim := range sims {
		cfg.Observer.note("measuring the sockets of %s, %s", sc.Name, sim.Window.Name)
		busy := time.Duration(sim.Tick.Mean * 1e3)
		sockets, err := r.Sockets(ctx, sim.Traffic, busy*time.Duration(sc.Lobby.Lobbies/len(sim.Traffic)))
		if err != nil {
			return p, nil, fmt.Errorf("sockets: %w", err)
		}
		cost := simbench.NewCost(sc, sim, sockets)
		p.Windows = append(p.Windows, cost)
	}
	resident, err := r.emptyServer(ctx, sc)
	if err != nil {
		return p, nil, err
	}
	memory, err := simbench.NewMemory(sc, resident)
	if err != nil {
		return p, nil, err
	}
	p.AddMemory(memory, len(sims[0].Traffic))
	return p, r, nil
}

// memoryAfter is when the memory of a server that is ready is measured: it moves into huge pages in the
// second before.
const memoryAfter = 1500 * time.Millisecond

// emptyServer returns the resident memory, in bytes, of a server process of a scenario that has its
// lobbies and no player yet. All of a lobby's memory is there from its start.
func (r *Runner) emptyServer(ctx context.Context, sc scenario.Scenario) (float64, error) {
	p, err := r.serve(sc)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	select {
	case <-ctx.Done():
	case <-time.After(memoryAfter):
	}
	return float64(ResidentBytes(p.cmd.Process.Pid)), ctx.Err()
}

// Sockets exchanges the traffic of server processes over real sockets: each is a process on the
// server's processor, as in a live run, and the clients are here. busy is the CPU time that the lobbies
// of a process spend in a tick; it is not part of the cost.
func (r *Runner) Sockets(ctx context.Context, all []simbench.Traffic,
	busy time.Duration) ([]simbench.SocketCost, error) {
	s := socketRun{Runner: r}
	defer s.stop()
	for _, t := range all {
		if err := s.add(t, busy); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var started atomic.Int64
	results := make(chan error, len(all))
	costs := make([]simbench.SocketCost, len(all))
	for i, p := range s.all {
		go func() {
			line, err := p.line(time.Minute) // all clients are known
			if err == nil {
				started.Add(1)
				line, err = p.line(time.Minute)
			}
			if err == nil {
				err = json.Unmarshal(line, &costs[i])
			}
			if err != nil {
				err = fmt.Errorf("%w: %s", err, strings.TrimSpace(p.errs.String()))
			}
			results <- err
		}()
	}
	sent := make(chan error, 1)
	go func() {
		sent <- simbench.SendTraffic(ctx, s.at, all, func() bool { return int(started.Load()) == len(all) })
	}()
	var err error
	for range all {
		err = errors.Join(err, <-results)
	}
	cancel()
	return costs, errors.Join(err, <-sent)
}

// socketRun is the processes of one measurement.
type socketRun struct {
	*Runner
	all   []*process       // one for each server process
	at    []netip.AddrPort // their sockets
	files []string         // traffic, as written for them
}

// add starts a process for the traffic of a server process.
func (s *socketRun) add(t simbench.Traffic, busy time.Duration) error {
	f, err := os.CreateTemp("", "tickrate-traffic-*")
	if err != nil {
		return err
	}
	s.files = append(s.files, f.Name())
	if err := errors.Join(t.Write(f), f.Close()); err != nil {
		return err
	}
	p := &process{}
	args := []string{"plan", "sockets", "--traffic", f.Name(), "--socket", s.cfg.Scenario.Network.Socket,
		"--busy", busy.String()}
	if err := s.launch(p, s.cfg.Scenario.Process, args); err != nil {
		return err
	}
	s.all = append(s.all, p)
	line, err := p.line(readyWithin)
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(p.errs.String()))
	}
	at, err := netip.ParseAddrPort(strings.TrimSpace(string(line)))
	s.at = append(s.at, at)
	return err
}

// stop ends the processes and removes the files of traffic.
func (s *socketRun) stop() {
	for _, p := range s.all {
		p.stop()
	}
	for _, f := range s.files {
		_ = os.Remove(f)
	}
}
