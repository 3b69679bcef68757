package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tickrate/tickrate/fleet/bus"
)

// Subjects of the bus: of the coordinator, and of each agent by its name.
const (
	toCoordinator = "tickrate.load.coordinator"
	toAgent       = "tickrate.load.agent."
)

// inbox is how many messages wait for a reader; more are dropped, as NATS does with slow readers.
const inbox = 256

// tickEvery is the time between two Ticks of a machine.
const tickEvery = 50 * time.Millisecond

// AgentConfig describes an agent's process. Fields without a default are required.
type AgentConfig struct {
	Bus   *bus.Bus
	Key   Key
	Name  string       // ValidName, of this agent alone
	Build string       // fingerprint of this program
	Now   func() int64 // nanoseconds since 1970; default the system's clock
	Log   *slog.Logger // of steps and what is refused; default none

	open func(*order) (*load, error) // default openSwarm
}

// Clock is the system's clock, nanoseconds since 1970.
func Clock() int64 { return time.Now().UnixNano() }

// worker is an agent's shell: it owns the machine.
type worker struct {
	AgentConfig
	agent  *Agent
	sealer *Sealer
	events chan func() // of the players' goroutine, run by the owner
	play   *play       // nil: no players
}

// Serve plays what coordinators on the bus ask for, until ctx ends. It disconnects its players
// before it returns.
func Serve(ctx context.Context, cfg AgentConfig) error {
	if !ValidName(cfg.Name) {
		return fmt.Errorf("name of the agent %q: expected 1 to %d letters, digits, - and _", cfg.Name, MaxName)
	}
	if cfg.Now == nil {
		cfg.Now = Clock
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.open == nil {
		cfg.open = openSwarm
	}
	w := &worker{AgentConfig: cfg, agent: NewAgent(cfg.Name, cfg.Build), sealer: NewSealer(cfg.Key),
		events: make(chan func(), 4)}
	messages := make(chan *nats.Msg, inbox)
	sub, err := cfg.Bus.Conn.ChanSubscribe(toAgent+cfg.Name, messages)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection is gone
	defer w.disconnect("this agent ends")
	beat := time.NewTicker(tickEvery)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-messages:
			w.receive(m)
		case do := <-w.events:
			do()
		case <-beat.C:
			out, do := w.agent.Tick(w.Now())
			w.act(out, do)
		}
	}
}

func (w *worker) receive(raw *nats.Msg) {
	now := w.Now()
	m, err := w.sealer.Open(raw.Subject, raw.Data)
	if err != nil {
		w.agent.Refused.add(err)
		return
	}
	if m.Kind == Refuse {
		w.Log.Warn("agent: refused by the plan", "why", m.Why)
	}
	w.act(w.agent.Receive(now, &m))
}

// act sends messages and does what is to be done with the players.
func (w *worker) act(out []Message, do Action) {
	for i := range out {
		raw, err := w.sealer.Seal(toCoordinator, &out[i])
		if err == nil {
			err = w.Bus.Conn.Publish(toCoordinator, raw)
		}
		if err != nil {
			w.Log.Warn("agent: message not sent", "kind", out[i].Kind, "err", err)
		}
	}
	switch {
	case do.Open != nil:
		w.connect(do.Open)
	case do.Start != 0 && w.play != nil:
		w.play.start.Store(do.Start)
	case do.Close != "":
		w.disconnect(do.Close)
	}
}

// connect starts the goroutine of the players.
func (w *worker) connect(o *order) {
	w.disconnect("the next step")
	ctx, cancel := context.WithCancel(context.Background())
	w.play = &play{w: w, order: o, step: w.agent.step, cancel: cancel, done: make(chan struct{})}
	w.Log.Info("agent: players connect", "step", w.agent.step, "first", o.Share.First, "players", o.Share.Count,
		"of", o.Clients)
	go w.play.run(ctx)
}

// disconnect ends the goroutine of the players, and waits for it.
func (w *worker) disconnect(why string) {
	if w.play == nil {
		return
	}
	w.Log.Info("agent: players leave", "step", w.play.step, "why", why)
	w.play.cancel()
	for waiting := true; waiting; {
		select {
		case do := <-w.events: // it may wait for room
			do()
		case <-w.play.done:
			waiting = false
		}
	}
	w.play = nil
}

// play is the players of one step, on a goroutine of their own.
type play struct {
	w      *worker
	order  *order
	step   int
	start  atomic.Int64 // instant of the warm-up; 0 before it is known
	cancel context.CancelFunc
	done   chan struct{}
}

var errEarly = errors.New("the players stopped before the step was over")
