package agent

import "time"

// Silence after which an agent looks for a coordinator, and after which it ends a step alone.
const (
	helloEvery = time.Second
	helloAfter = 3 * time.Second
	aloneAfter = 15 * time.Second
)

// maxLead is the longest time that a start may lie ahead.
const maxLead = time.Minute

// state is what an agent does.
type state int

const (
	idle    state = iota
	joining       // its players connect
	waiting       // they play, and the start is not known
	playing       // warm-up and measured time
	done          // the figures are out; the players go on until Stop
)

// Agent plays the shares that a coordinator gives it: messages, instants and what became of the
// players go in; messages and what to do with the players come out. Instants are nanoseconds since
// 1970 by the agent's clock. It is not safe for several goroutines.
type Agent struct {
	Refused Refusals // messages, by reason

	name, build string
	run         string // of the coordinator; "": none was heard
	step        int
	state       state
	heard, said int64 // instants of the last message and the last hello
}

// Action is what a shell is to do with the players.
type Action struct {
	Open  *order // connect these
	Start int64  // begin the warm-up at this instant
	Close string // disconnect, for this reason
}

// NewAgent returns an agent with a name that is ValidName, of a build.
func NewAgent(name, build string) *Agent {
	return &Agent{Refused: Refusals{}, name: name, build: build}
}

func (a *Agent) say(kind Kind) Message {
	return Message{Kind: kind, Run: a.run, Step: a.step, Agent: a.name}
}

// Receive takes a message that arrived at the instant now. Messages that are not expected are
// counted in Refused.
func (a *Agent) Receive(now int64, m *Message) ([]Message, Action) {
	out, do, err := a.receive(now, m)
	if err != nil {
		a.Refused.add(err)
	}
	return out, do
}

func (a *Agent) receive(now int64, m *Message) (out []Message, do Action, err error) {
	switch {
	case m.check() != nil:
		return nil, do, ErrForm
	case m.Agent != a.name || m.Run == "":
		return nil, do, ErrStranger
	case m.Kind == Refuse:
		return nil, do, ErrBuild
	case a.run != m.Run && m.Kind == Ping && a.state == idle && time.Duration(now-a.heard) > helloAfter:
		a.run = m.Run // the coordinator before is silent
	case a.run != m.Run:
		return nil, do, ErrStranger
	}
	a.heard = now
	switch m.Kind {
	case Ping:
		pong := a.say(Pong)
		pong.T0, pong.T1, pong.T2 = m.T0, now, now
		return []Message{pong}, do, nil
	case Prepare:
		return a.prepare(m)
	case Start:
		return a.start(now, m)
	case Stop, Abort:
		if m.Step != a.step || a.state == idle {
			return nil, do, ErrUnasked
		}
		a.state, do.Close = idle, string(m.Kind)
		return nil, do, nil
	}
	return nil, do, ErrUnasked
}

// prepare begins a step. A job that is wrong is answered with a Fault that says why.
func (a *Agent) prepare(m *Message) (out []Message, do Action, err error) {
	if a.state != idle || m.Step <= 0 || m.Job == nil {
		return nil, do, ErrUnasked
	}
	a.step = m.Step
	o, err := m.Job.read(a.build)
	if err != nil {
		return []Message{a.fault(err.Error())}, do, err
	}
	a.state, do.Open = joining, o
	return nil, do, nil
}

func (a *Agent) start(now int64, m *Message) (out []Message, do Action, err error) {
	switch ahead := time.Duration(m.At - now); {
	case a.state != waiting || m.Step != a.step:
		return nil, do, ErrUnasked
	case ahead <= 0 || ahead > maxLead:
		a.state, do.Close = idle, "no start"
		return []Message{a.fault("it heard of the start when that was past or over a minute ahead")}, do, nil
	}
	a.state, do.Start = playing, m.At
	return nil, do, nil
}

func (a *Agent) fault(why string) Message {
	m := a.say(Fault)
	m.Why = cut(why)
	return m
}

// Joined takes that all players of the step have joined.
func (a *Agent) Joined(step int) []Message {
	if a.state != joining || a.step != step {
		return nil
	}
	a.state = waiting
	return []Message{a.say(Ready)}
}

// Measured takes the figures of a step.
func (a *Agent) Measured(step int, r *Report) []Message {
	if a.state != playing || a.step != step {
		return nil
	}
	a.state = done
	m := a.say(Result)
	m.Report = r
	return []Message{m}
}

// Failed takes that the players of a step cannot go on. They are to be closed.
func (a *Agent) Failed(step int, why string) []Message {
	if a.state == idle || a.step != step {
		return nil
	}
	a.state = idle
	return []Message{a.fault(why)}
}

// Tick does what is due at the instant now.
func (a *Agent) Tick(now int64) (out []Message, do Action) {
	silent := time.Duration(now - a.heard)
	if a.state != idle && silent > aloneAfter {
		a.state, do.Close = idle, "the coordinator is not heard any more"
	}
	if a.state == idle && silent > helloAfter && time.Duration(now-a.said) >= helloEvery {
		a.said = now
		hello := a.say(Hello)
		hello.Build, hello.Run, hello.Step = a.build, "", 0
		out = append(out, hello)
	}
	return out, do
}
