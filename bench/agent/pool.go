package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tickrate/tickrate/bench/scenario"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/fleet/bus"
)

// PoolConfig describes a coordinator's process. Fields without a default are required.
type PoolConfig struct {
	Bus   *bus.Bus
	Key   Key
	Build string        // fingerprint of this program, which agents must have
	Least int           // agents that a step waits for
	Wait  time.Duration // most time that it waits for them; default 1 min
	Now   func() int64  // nanoseconds since 1970; default the system's clock

	machine Config // beyond Run and Build
}

// Pool leads the agents on a bus. One coordinator may be on a bus at a time. Its methods may be
// called by one goroutine at a time.
type Pool struct {
	cfg    PoolConfig
	sealer *Sealer
	sub    *nats.Subscription
	quit   chan struct{}
	done   sync.WaitGroup

	mu      sync.Mutex // of the machine
	machine *Coordinator
}

// NewPool starts to listen to agents; Close ends it.
func NewPool(cfg PoolConfig) (*Pool, error) {
	if cfg.Least < 1 || cfg.Least > MaxAgents {
		return nil, fmt.Errorf("%d agents: expected 1 to %d", cfg.Least, MaxAgents)
	}
	if cfg.Wait == 0 {
		cfg.Wait = time.Minute
	}
	if cfg.Now == nil {
		cfg.Now = Clock
	}
	cfg.machine.Run, cfg.machine.Build = rand.Text(), cfg.Build
	p := &Pool{cfg: cfg, sealer: NewSealer(cfg.Key), machine: NewCoordinator(cfg.machine),
		quit: make(chan struct{})}
	messages := make(chan *nats.Msg, inbox)
	var err error
	if p.sub, err = cfg.Bus.Conn.ChanSubscribe(toCoordinator, messages); err != nil {
		return nil, err
	}
	p.done.Go(func() { p.listen(messages) })
	return p, nil
}

// listen owns the bus until Close.
func (p *Pool) listen(messages <-chan *nats.Msg) {
	beat := time.NewTicker(tickEvery)
	defer beat.Stop()
	for {
		select {
		case <-p.quit:
			return
		case raw := <-messages:
			now := p.cfg.Now()
			m, err := p.sealer.Open(raw.Subject, raw.Data)
			p.do(func(c *Coordinator) []Message {
				if err != nil {
					c.Refused.add(err)
					return nil
				}
				return c.Receive(now, &m)
			})
		case <-beat.C:
			p.do(func(c *Coordinator) []Message { return c.Tick(p.cfg.Now()) })
		}
	}
}

// do lets the machine do something and sends its messages. A message that the bus does not take is
// lost, as any other: the machine notices by what does not come back.
func (p *Pool) do(with func(*Coordinator) []Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range with(p.machine) {
		subject := toAgent + m.Agent
		if raw, err := p.sealer.Seal(subject, &m); err == nil {
			_ = p.cfg.Bus.Conn.Publish(subject, raw)
		}
	}
}

// Agents counts the agents that the next step will have.
func (p *Pool) Agents() (n int) {
	p.do(func(c *Coordinator) []Message { n = c.Agents(); return nil })
	return n
}

// Refused counts the messages that were refused, by reason.
func (p *Pool) Refused() Refusals {
	all := Refusals{}
	p.do(func(c *Coordinator) []Message {
		for why, n := range c.Refused {
			all[why] = n
		}
		return nil
	})
	return all
}

// Await waits until enough agents are there. note is called whenever their number has changed.
func (p *Pool) Await(ctx context.Context, note func(n int)) error {
	last := -1
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Wait)
	defer cancel()
	err := p.poll(ctx, func() bool {
		n := p.Agents()
		if n != last && note != nil {
			note(n)
		}
		last = n
		return n >= p.cfg.Least
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%d of %d agents on the bus within %v; refused messages: %v", last, p.cfg.Least,
			p.cfg.Wait, p.Refused())
	}
	return err
}

// poll waits until a condition holds.
func (p *Pool) poll(ctx context.Context, holds func() bool) error {
	beat := time.NewTicker(tickEvery)
	defer beat.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
		}
	}
	return nil
}

// Step is what a pool plays, and what is to be done with the servers meanwhile.
type Step struct {
	Scenario scenario.Scenario // with the step's size
	Servers  []Server
	Begin    func() // when the measured time begins; nil: nothing
	End      func() // when it has ended and all players still play; nil: nothing
}

// Play plays one step with all agents that are there, at least as many as the pool waits for, and
// returns what it found. Players are disconnected before it returns. An error is one of this side.
func (p *Pool) Play(ctx context.Context, s Step) (v Verdict, err error) {
	if err := p.Await(ctx, nil); err != nil {
		return v, err
	}
	job, err := newJob(p.cfg.Build, s.Scenario, s.Servers)
	if err != nil {
		return v, err
	}
	m, period := s.Scenario.Measure, tick.Rate(s.Scenario.Rates.TickHz).Period()
	p.do(func(c *Coordinator) (out []Message) {
		out, err = c.Begin(p.cfg.Now(), job, time.Duration(m.Warmup+m.Duration), period)
		return out
	})
	if err != nil {
		return v, err
	}
	defer func() {
		if err != nil {
			p.do(func(c *Coordinator) []Message { return c.Abort("the coordinator was interrupted") })
		}
		p.do((*Coordinator).End)
	}()
	if err := p.measure(ctx, s); err != nil {
		return v, err
	}
	p.do(func(c *Coordinator) []Message { v = c.Verdict(); return nil })
	return v, nil
}

// measure waits for the start, the measured time and the figures.
func (p *Pool) measure(ctx context.Context, s Step) error {
	m := s.Scenario.Measure
	var start int64
	var over bool
	look := func() { p.do(func(c *Coordinator) []Message { start, over = c.Started(), c.Over(); return nil }) }
	if err := p.poll(ctx, func() bool { look(); return start != 0 || over }); err != nil || over {
		return err
	}
	if err := p.sleepUntil(ctx, start+int64(m.Warmup)); err != nil {
		return err
	}
	if s.Begin != nil {
		s.Begin()
	}
	if err := p.sleepUntil(ctx, start+int64(m.Warmup+m.Duration)); err != nil {
		return err
	}
	if s.End != nil {
		s.End()
	}
	return p.poll(ctx, func() bool { look(); return over })
}

// sleepUntil waits for an instant of the pool's clock.
func (p *Pool) sleepUntil(ctx context.Context, at int64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(at - p.cfg.Now())):
		return nil
	}
}

// Close lets the agents go and stops listening.
func (p *Pool) Close() {
	p.do((*Coordinator).End)
	close(p.quit)
	p.done.Wait()
	_ = p.sub.Unsubscribe() // fails if the connection is gone
}
