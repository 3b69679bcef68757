package agent

import (
	"errors"
	"fmt"
	"time"
)

// step is one step of the test while it lasts.
type step struct {
	parts  []*part       // of all agents in it, by name
	begun  int64         // instant
	start  int64         // instant of the warm-up; 0 before it is known
	length time.Duration // of warm-up and measured time
	period time.Duration // of a tick
	merged *Merged
	over   bool // nothing more is awaited
}

// part is an agent's part of a step.
type part struct {
	Standing
	share  Share
	offset *Offset
	ready  bool
	report *Report
}

// ErrNoAgents is Begin's error without an agent.
var ErrNoAgents = errors.New("agent: no agent on the bus")

// ErrBusy is Begin's error while a step lasts.
var ErrBusy = errors.New("agent: a step is under way")

// Begin starts a step at the instant now with all agents that are alive; those that come later are
// in the next one. job says what is played, its share aside; length is the warm-up and the measured
// time, period that of a tick.
func (c *Coordinator) Begin(now int64, job *Job, length, period time.Duration) ([]Message, error) {
	if c.step != nil {
		return nil, ErrBusy
	}
	var able []*peer
	for _, p := range c.agents {
		if p.offset.Known() {
			able = append(able, p)
		}
	}
	if able = able[:min(len(able), job.Clients)]; len(able) == 0 {
		return nil, ErrNoAgents
	}
	c.steps++
	c.step = &step{begun: now, length: length, period: period, merged: newMerged()}
	var out []Message
	for i, share := range Cut(job.Clients, len(able)) {
		p, own := able[i], *job
		own.Share = share
		p.part = &part{Standing: Standing{Name: p.name, Players: share.Count}, share: share, offset: &p.offset}
		c.step.parts = append(c.step.parts, p.part)
		out = append(out, c.to(p.name, Prepare, func(m *Message) { m.Job = &own }))
	}
	return out, nil
}

// setReady notes that all players of a part have joined.
func (p *part) setReady() error {
	if p.ready {
		return ErrUnasked
	}
	p.ready = true
	return nil
}

// report takes a part's figures and merges them.
func (s *step) report(p *part, r *Report) error {
	if r == nil || s.start == 0 || p.report != nil || p.gone() {
		return ErrUnasked
	}
	if err := newMerged().add(r); err != nil { // alone, so that a wrong one leaves no trace
		p.Fault = "its figures cannot be"
		return err
	}
	p.report = r
	return s.merged.add(r)
}

// gone reports whether nothing is awaited from the part any more.
func (p *part) gone() bool { return p.Dead != "" || p.Fault != "" }

// fault notes that an agent cannot go on. Before the start that ends the step.
func (c *Coordinator) fault(p *part, why string) []Message {
	if p.gone() {
		return nil
	}
	p.Fault = why
	return c.abortBeforeStart(p.Name + ": " + why)
}

// lost notes that an agent is dead. Before the start that ends the step; later the others' figures
// are still of use.
func (c *Coordinator) lost(p *part, silent time.Duration) []Message {
	if p.report == nil {
		p.Dead = fmt.Sprintf("died: not heard for %.1f s", silent.Seconds())
	}
	return c.abortBeforeStart(p.Name + ": " + p.Dead)
}

func (c *Coordinator) abortBeforeStart(why string) []Message {
	if c.step.start != 0 || c.step.over {
		return nil
	}
	return c.Abort(why)
}

// Abort ends a step early. Its verdict stays until End.
func (c *Coordinator) Abort(why string) []Message {
	if c.step == nil || c.step.over {
		return nil
	}
	c.step.over = true
	return c.toParts(Abort, cut(why))
}

// toParts tells the agents of the step that are alive.
func (c *Coordinator) toParts(kind Kind, why string) (out []Message) {
	for _, p := range c.agents {
		if p.part != nil {
			out = append(out, c.to(p.name, kind, func(m *Message) { m.Why = why }))
		}
	}
	return out
}

// progress does what is due in a step.
func (c *Coordinator) progress(now int64) []Message {
	s := c.step
	switch {
	case s.over:
	case s.start == 0 && s.waiting(func(p *part) bool { return p.ready }) == 0:
		return c.begin(now)
	case s.start == 0 && time.Duration(now-s.begun) > c.cfg.ReadyIn:
		s.blame(func(p *part) bool { return p.ready }, fmt.Sprintf("was not ready within %v", c.cfg.ReadyIn))
		return c.Abort("not all agents were ready")
	case s.start == 0:
	case s.waiting(func(p *part) bool { return p.report != nil }) == 0:
		s.over = true
	case time.Duration(now-s.start) > s.length+c.cfg.ReportIn:
		s.blame(func(p *part) bool { return p.report != nil },
			fmt.Sprintf("had no figures %v after the end", c.cfg.ReportIn))
		s.over = true
	}
	return nil
}

// waiting counts the parts that are not done and still expected to be.
func (s *step) waiting(done func(*part) bool) (n int) {
	for _, p := range s.parts {
		if !p.gone() && !done(p) {
			n++
		}
	}
	return n
}

// blame notes a fault of the parts that are not done.
func (s *step) blame(done func(*part) bool, why string) {
	for _, p := range s.parts {
		if !p.gone() && !done(p) {
			p.Fault = why
		}
	}
}

// begin sets the common start and tells it to each agent in its own time.
func (c *Coordinator) begin(now int64) (out []Message) {
	c.step.start = now + int64(c.cfg.Lead)
	for _, p := range c.agents {
		if p.part == nil {
			continue
		}
		ahead, _ := p.offset.Estimate()
		out = append(out, c.to(p.name, Start, func(m *Message) { m.At = c.step.start + int64(ahead) }))
	}
	return out
}

// Started is the instant at which the warm-up of the step begins; 0 before it is known.
func (c *Coordinator) Started() int64 {
	if c.step == nil {
		return 0
	}
	return c.step.start
}

// Over reports whether the step awaits nothing more: all figures are there, or it has failed.
func (c *Coordinator) Over() bool { return c.step == nil || c.step.over }

// End ends the step: agents disconnect their players.
func (c *Coordinator) End() (out []Message) {
	if c.step == nil {
		return nil
	}
	out = c.toParts(Stop, "")
	for _, p := range c.agents {
		p.part = nil
	}
	c.step = nil
	return out
}
