package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Config is what coordinators decide by. Zero fields mean the defaults named.
type Config struct {
	Run   string // name of this coordinator's run, different from every other's
	Build string // fingerprint that agents must have

	PingEvery time.Duration // heartbeats of each agent; default 250 ms
	DeadAfter time.Duration // silence that counts as death; default 5 s
	ReadyIn   time.Duration // most time for connecting all players; default 2 min
	Lead      time.Duration // from the last ready agent to the common start; default 500 ms
	ReportIn  time.Duration // most time after the measured time for reports; default 10 s
	// Largest offset of an agent's clock, and the largest error of its estimate, with which figures
	// that need a clock stand; default 100 ms.
	ClockLimit time.Duration
}

func (cfg Config) withDefaults() Config {
	cfg.PingEvery = cmp.Or(cfg.PingEvery, 250*time.Millisecond)
	cfg.DeadAfter = cmp.Or(cfg.DeadAfter, 5*time.Second)
	cfg.ReadyIn = cmp.Or(cfg.ReadyIn, 2*time.Minute)
	cfg.Lead = cmp.Or(cfg.Lead, 500*time.Millisecond)
	cfg.ReportIn = cmp.Or(cfg.ReportIn, 10*time.Second)
	cfg.ClockLimit = cmp.Or(cfg.ClockLimit, 100*time.Millisecond)
	return cfg
}

// answerIn is how long a ping waits for its answer before the next is sent.
const answerIn = time.Second

// Coordinator leads agents through the steps of a test: messages and instants go in, messages and a
// Verdict come out. Instants are nanoseconds since 1970 by the coordinator's clock. It is not safe
// for several goroutines.
type Coordinator struct {
	Refused Refusals // messages, by reason

	cfg    Config
	agents []*peer // by name
	steps  int     // begun so far
	step   *step   // nil between two steps
}

// peer is an agent that has said hello and is alive.
type peer struct {
	name          string
	heard, pinged int64 // instants of the last answer and the last ping
	asked         int64 // T0 that was not answered yet; 0: none
	offset        Offset
	part          *part // in the step; nil for one that came too late for it
}

// NewCoordinator returns a coordinator without agents.
func NewCoordinator(cfg Config) *Coordinator {
	return &Coordinator{Refused: Refusals{}, cfg: cfg.withDefaults()}
}

// Agents counts the agents that are alive and have a clock whose offset is known: those that the
// next step will have.
func (c *Coordinator) Agents() (n int) {
	for _, p := range c.agents {
		if p.offset.Known() {
			n++
		}
	}
	return n
}

// Receive takes a message that arrived at the instant now. Messages that are not expected are
// counted in Refused.
func (c *Coordinator) Receive(now int64, m *Message) (out []Message) {
	out, err := c.receive(now, m)
	if err != nil {
		c.Refused.add(err)
	}
	return out
}

func (c *Coordinator) receive(now int64, m *Message) ([]Message, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	at, known := c.find(m.Agent)
	if m.Kind == Hello {
		return c.hello(now, m, at, known)
	}
	switch {
	case m.Run != c.cfg.Run || !known:
		return nil, ErrStranger
	case m.Kind == Pong:
		return nil, c.agents[at].pong(now, m)
	}
	p := c.agents[at]
	if c.step == nil || p.part == nil || m.Step != c.steps {
		return nil, ErrUnasked
	}
	p.heard = now
	switch m.Kind {
	case Ready:
		return nil, p.part.setReady()
	case Fault:
		return c.fault(p.part, cut(m.Why)), nil
	case Result:
		return nil, c.step.report(p.part, m.Report)
	}
	return nil, ErrUnasked
}

func (c *Coordinator) find(name string) (at int, known bool) {
	return slices.BinarySearchFunc(c.agents, name, func(p *peer, name string) int {
		return cmp.Compare(p.name, name)
	})
}

// hello admits an agent. One that is known and says hello in a step has lost its players.
func (c *Coordinator) hello(now int64, m *Message, at int, known bool) ([]Message, error) {
	switch {
	case m.Build != c.cfg.Build:
		return []Message{c.to(m.Agent, Refuse, func(o *Message) {
			o.Why = cut(fmt.Sprintf("this coordinator is of build %s, the agent of %s", c.cfg.Build, m.Build))
		})}, ErrBuild
	case known && c.agents[at].part != nil:
		return c.fault(c.agents[at].part, "it started anew"), nil
	case known:
		return nil, nil
	case len(c.agents) == MaxAgents:
		return nil, ErrFull
	}
	c.agents = slices.Insert(c.agents, at, &peer{name: m.Agent, heard: now})
	return nil, nil
}

// pong takes the answer to the last ping.
func (p *peer) pong(now int64, m *Message) error {
	if p.asked == 0 || m.T0 != p.asked {
		return ErrUnasked
	}
	p.asked = 0
	if !p.offset.Add(m.T0, m.T1, m.T2, now) {
		return ErrClock
	}
	p.heard = now
	return nil
}

// to makes a message to an agent.
func (c *Coordinator) to(name string, kind Kind, set func(*Message)) Message {
	m := Message{Kind: kind, Run: c.cfg.Run, Agent: name}
	if c.step != nil {
		m.Step = c.steps
	}
	if set != nil {
		set(&m)
	}
	return m
}

// Tick does what is due at the instant now: pings, the start, and the end of those that are silent.
func (c *Coordinator) Tick(now int64) (out []Message) {
	c.agents = slices.DeleteFunc(c.agents, func(p *peer) bool {
		silent := time.Duration(now - p.heard)
		if silent <= c.cfg.DeadAfter {
			return false
		}
		if p.part != nil && c.step != nil {
			out = append(out, c.lost(p.part, silent)...)
		}
		return true
	})
	for _, p := range c.agents {
		every := c.cfg.PingEvery
		if p.asked != 0 {
			every = max(every, answerIn) // an answer to the last would not be expected any more
		}
		if time.Duration(now-p.pinged) >= every {
			p.pinged, p.asked = now, now
			out = append(out, c.to(p.name, Ping, func(m *Message) { m.T0 = now }))
		}
	}
	if c.step != nil {
		out = append(out, c.progress(now)...)
	}
	return out
}
