package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/tickrate/tickrate/bench/measure"
	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/bench/simbench"
	"github.com/tickrate/tickrate/bench/slo"
	"github.com/tickrate/tickrate/bench/swarm"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/clock"
	"github.com/tickrate/tickrate/internal/meter"
	"github.com/tickrate/tickrate/sim/content"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Config describes a runner. Zero fields mean the defaults named.
type Config struct {
	Scenario  scenario.Scenario
	Objective *slo.Objective          // default slo.Default
	Brain     func(n int) swarm.Brain // of client n
	Movement  string                  // where the brains come from, for reports

	Binary      string          // that has the command serve; default the running program
	ContentDir  string          // passed to serve; default the pack of the build
	ModelFile   string          // passed to serve; default the model of the build
	Content     *content.Pack   // what ContentDir holds
	Models      netstate.Models // what ModelFile holds
	Observer    Observer
	Description measure.Machine // default measure.Here

	Floor bool // measure the floor of each step's datagrams, too

	// Keeps the captured ticks of the steps of a plan that fail; nil: no tick is captured.
	Captures *Captures
	// Plays the players of a step on other machines; nil: a swarm in this process does.
	Remote Remote
	// Address of the servers, which the other machines must reach; default 127.0.0.1.
	Host netip.Addr
}

// Observer follows a runner. Fields that are nil are not called.
type Observer struct {
	// Note tells the current activity.
	Note func(format string, args ...any)
	// Ready reports whether a note would be shown.
	Ready func() bool
	// Playing is called once a tick while a step is measured.
	Playing func(f *swarm.Figures, players int, played, of time.Duration)
	// Step tells a judged step.
	Step func(measure.Step)
	// Search tells that the search begins.
	Search func(level slo.Level, machine measure.Machine, movement string, limit time.Duration)
}

// note tells the observer the current activity.
func (o Observer) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(format, args...)
	}
}

// Runner measures one lobby size at a time: server processes, and a swarm in this process, on
// processors of their own.
type Runner struct {
	cfg               Config
	onServer, onSwarm []int  // processors of the servers and of the swarm; nil: not pinned
	pinned            string // how processes are pinned, for reports
}

// New prepares a runner. Where there are two processors or more it pins this process to all but the
// first.
func New(cfg Config) *Runner {
	if cfg.Objective == nil {
		cfg.Objective = slo.Default()
	}
	if cfg.Description == (measure.Machine{}) {
		cfg.Description = measure.Here()
	}
	r := &Runner{cfg: cfg, pinned: "not pinned: one processor"}
	runtime.GOMAXPROCS(max(swarmThreads, runtime.GOMAXPROCS(0)))
	if all := clock.CPUs(); len(all) >= 2 {
		r.onServer, r.onSwarm = all[:1], all[1:]
		r.pinned = fmt.Sprintf("server on processor %v, swarm on %v", r.onServer, r.onSwarm)
		if err := clock.SetProcessAffinity(r.onSwarm); err != nil {
			r.pinned, r.onServer = "not pinned: "+err.Error(), nil
		}
	}
	return r
}

// unpin lets this process run on all processors until the function that it returns is called.
func (r *Runner) unpin() (pin func()) {
	if r.onServer == nil {
		return func() {}
	}
	_ = clock.SetProcessAffinity(append(slices.Clone(r.onServer), r.onSwarm...))
	return func() { _ = clock.SetProcessAffinity(r.onSwarm) }
}

// swarmThreads is the number of goroutines that run at a time in the swarm's process: the swarm,
// its backup sender, the hiccup meter and one for the rest.
const swarmThreads = 4

// Step measures lobbies of a number of players in all. An error is one of this side; a server that
// fails is a Fault of the step.
func (r *Runner) Step(ctx context.Context, players int) (measure.Step, error) {
	sc := r.cfg.Scenario
	if sc.Lobby.Grow == "lobbies" {
		sc = sc.At(players / sc.Lobby.Players)
	} else {
		sc = sc.At(players / sc.Lobby.Lobbies)
	}
	r.cfg.Observer.note("%d players: starting the server", players)
	servers, err := r.start(ctx, sc)
	if err != nil {
		return measure.Step{}, err
	}
	defer servers.stop()
	if r.cfg.Remote != nil {
		return r.remoteStep(ctx, sc, servers, players)
	}
	s, err := swarm.Open(swarm.Config{
		Servers: servers.at, Lobbies: servers.lobbies, Players: sc.Total() + sc.Spectators(),
		FirstSpectator: sc.Total(),
		Full:           sc.Play.Full, Decode: simbench.Decode(sc), Seed: sc.Play.Seed,
		Rate:   tick.Rate(sc.Rates.TickHz),
		Models: r.cfg.Models, Content: r.cfg.Content, Brain: r.cfg.Brain, Token: servers.tokens(sc.Total()),
		Arrival: time.Duration(sc.Play.Arrival), ChurnPerMinute: sc.Play.LeavesPerMinute,
	})
	if err != nil {
		return measure.Step{}, err
	}
	defer s.Close() // the figures are out by then
	run := stepRun{Runner: r, sc: sc, servers: servers, swarm: s, players: players}
	step, err := run.measure(ctx)
	servers.stop() // they would take the processor from the floor
	if err == nil {
		r.addFloor(ctx, &step)
	}
	return step, err
}

// Repeat measures the scenario live as many times. The seed of each run is one more than that of
// the run before, as in simbench.Simulate, so that both play the same matches. It returns the runs
// that are not void, or all of them if every run is; the number of void runs; and the last void's
// reason.
func (r *Runner) Repeat(ctx context.Context, times int) (steps []measure.Step, voids int,
	why string, err error) {
	var void []measure.Step
	for i := range times {
		one := *r
		one.cfg.Scenario.Play.Seed += uint64(i)
		s, err := one.Step(ctx, one.cfg.Scenario.Total())
		switch {
		case err != nil:
			return nil, 0, "", err
		case s.Fault != "":
			return nil, 0, "", fmt.Errorf("the live run failed: %s", s.Fault)
		case s.Void:
			void, why = append(void, s), s.VoidReason
		default:
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		steps = void
	}
	return steps, len(void), why, nil
}

// stepRun is one step while it runs.
type stepRun struct {
	*Runner
	sc      scenario.Scenario // with the step's size
	servers *servers
	swarm   *swarm.Swarm
	players int // in all lobbies, without spectators
}

// measure connects the swarm, warms up, and measures.
func (r *stepRun) measure(ctx context.Context) (measure.Step, error) {
	m, s, clients := r.sc.Measure, r.swarm, r.sc.Total()+r.sc.Spectators()
	r.cfg.Observer.note("%d players: connecting", r.players)
	if err := Connect(ctx, s, clients, time.Duration(r.sc.Play.Arrival)); err != nil {
		return r.failed(err), nil
	}
	joined := time.Now() // the warm-up counts from here, as in a simulation
	if err := EnlargePages(ctx, s); err != nil {
		return r.failed(err), nil
	}
	r.cfg.Observer.note("%d players: warming up", r.players)
	if err := s.Run(ctx, max(0, time.Duration(m.Warmup)-time.Since(joined)), nil); err != nil {
		return r.failed(err), nil
	}
	if err := r.settle(ctx); err != nil {
		return r.failed(err), nil
	}
	s.Reset()
	resetDone := r.servers.reset(ctx)
	gaps := meter.NewHistogram(0, meter.Fine)
	hiccup := clock.NewHiccupOnSpare(r.onSwarm, func(late time.Duration) { gaps.Record(int64(late)) })
	begin := time.Now()
	err := s.Run(ctx, time.Duration(m.Duration), func() bool {
		if o := r.cfg.Observer; o.Playing != nil && o.Ready != nil && o.Ready() {
			o.Playing(&s.Figures, r.players, time.Since(begin), time.Duration(m.Duration))
		}
		return false
	})
	if err = errors.Join(err, <-resetDone); err != nil {
		hiccup.Stop()
		return r.failed(err), nil
	}
	hosts, err := r.figures(ctx)
	hiccup.Stop()
	if err != nil {
		return measure.Step{}, err
	}
	step := newStep(r.players, clients, hosts, &s.Figures, Account(&s.Figures))
	step.SwarmHiccup = millis(gaps)
	r.blame(&step)
	blameStall(&step, r.sc.Rates.TickHz)
	return step, nil
}

// blame adds to the reason of a step that the swarm made void whether its processor was full, or the
// machine was busy with something else. Neither explains figures that are wrong.
func (r *stepRun) blame(s *measure.Step) {
	late := s.SwarmHiccup.P99
	switch {
	case !s.Void || s.Invalid:
	case s.SwarmCores >= spareShare:
		s.VoidReason += fmt.Sprintf("; it used %.2f of its processor", s.SwarmCores)
	case late > 500/float64(r.sc.Rates.TickHz):
		s.Stalled = true
		s.VoidReason += fmt.Sprintf("; an idle thread woke %.0f ms late at p99, too: the machine is busy", late)
	}
}

// spareShare is the share of a processor above which server and swarm cannot blame the machine.
const spareShare = 0.75

// blameStall makes a step void in which the server's machine stalled, whether it holds or fails: a
// thread of the server that only sleeps woke over a period late, though the server had a quarter of
// its processor to spare.
func blameStall(s *measure.Step, tickHz int) {
	late := s.HiccupMillis.Max
	if s.Void || late < 1000/float64(tickHz) || s.ServerCores > spareShare*float64(max(1, len(s.LoopCallMillis))) {
		return
	}
	s.Void, s.Stalled = true, true
	s.VoidReason = fmt.Sprintf("the machine stalled: a thread of the server that only sleeps woke %.0f ms late, "+
		"while the server used %.2f cores", late, s.ServerCores)
}

// settle plays on, where lobbies share a process, until the clients' clocks have settled.
func (r *stepRun) settle(ctx context.Context) error {
	if !r.sc.SharedProcess() {
		return nil
	}
	return Settle(ctx, r.swarm)
}

// Bounds of Settle.
const (
	settleTime   = 6 * time.Second
	settleWindow = 250 * time.Millisecond
	settledFall  = time.Millisecond // a clock that is still behind makes up 12.5 ms in a window
)

// Settle runs a swarm until the mean age of snapshots falls no more, for six seconds at most. All
// players join at once, which makes the server's loop give ticks up, and a clock makes up a twentieth
// of a second in one. No level of the age would do: a link's delay is part of it, and clocks that have
// settled at once would be played with for all of the time.
func Settle(ctx context.Context, s *swarm.Swarm) error {
	before := math.Inf(1)
	for spent := time.Duration(0); spent < settleTime; spent += settleWindow {
		s.Reset()
		if err := s.Run(ctx, settleWindow, nil); err != nil || ctx.Err() != nil {
			return err
		}
		age := s.Figures.Age.Mean()
		if age > before-float64(settledFall) {
			return nil
		}
		before = age
	}
	return nil
}

// figures asks the servers for their figures while the swarm plays on: players that stop would be
// missed by the lobbies that answer last.
func (r *stepRun) figures(ctx context.Context) ([]hostFigures, error) {
	asked := r.servers.stats(ctx)
	var answers *hostAnswers
	err := r.swarm.Run(ctx, 2*askTimeout, func() bool {
		select {
		case a := <-asked:
			answers = &a
		default:
		}
		return answers != nil
	})
	if answers == nil {
		a := <-asked
		answers = &a
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all, errDecode := answers.decode()
	return all, errors.Join(err, errDecode)
}

// failed is a step that could not be measured: void if the swarm was at fault, otherwise the
// server's failure.
func (r *stepRun) failed(err error) measure.Step {
	step := measure.Step{Players: r.players, Fault: err.Error(), VoidReason: r.swarm.Figures.Void()}
	step.Void = step.VoidReason != ""
	return step
}

// HardwareCounters is the setting that says whether steps have events of the processor.
const HardwareCounters = "hardware counters"

// Settings are all keys of the scenario with their values, and how the runner runs it, for reports.
func (r *Runner) Settings() (all []measure.Setting) {
	all = Settings(r.cfg.Scenario)
	return append(all, measure.Setting{Name: "sessions", Value: "every datagram is encrypted, both ways"},
		measure.Setting{Name: "processors", Value: r.pinned},
		measure.Setting{Name: HardwareCounters, Value: counting()})
}
