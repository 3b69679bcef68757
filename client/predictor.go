package client

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/netstate"
)

// ringTicks is how many commands and the states they led to are remembered: the longest path that is predicted, two
// seconds at 60 Hz.
const ringTicks = 128

// predictor plays the player's own commands ahead of the server. Rings by tick hold each command and the state it led
// to; a row from the server replaces a state, and if it differs, everything after it is played again.
type predictor struct {
	blind  bool      // commands are kept and not played: there are no states
	newest tick.Tick // of the rings
	first  tick.Tick // of the first command that was really given; 0 before it
	row    tick.Tick // of the newest row taken in
	arena  *arena.Arena
	kit    *sim.CompiledGame
	states *[ringTicks]state // made with the first
	count  Prediction
	acts   ability.Actions // of the tick that was played last
	given  [ringTicks]given
}

// given is the command of a tick.
type given struct {
	cmd  sim.Command
	made bool // it was given; otherwise the clock jumped over this tick and the server plays a substitute
}

// state is what a player can predict of itself.
type state struct {
	sim.Self
	pushes uint8 // what befell us from outside; only rows tell of more
	known  bool  // false until the first row
	dead   bool  // neither moves nor fires until the server says otherwise
}

// Prediction counts how well the predictor does.
type Prediction struct {
	Rows            uint64 // owner rows compared
	Mispredictions  uint64 // rows that differed while alive, after the server had our first command
	Lives           uint64 // rows that told of a death or a respawn: not predictable, not counted above
	Pushes          uint64 // rows that told of a knock-back or a teleport: likewise
	Replays         uint64 // times commands were played again, for any of these reasons; the dead have nothing to play
	Replayed        uint64 // ticks played again
	Skipped         uint64 // ticks without a command, because the clock jumped over them
	Beyond          uint64 // rows too old for the ring, or of ticks we had no command for yet
	FirstMispredict tick.Tick
	LastMispredict  tick.Tick
}

func (p *predictor) at(t tick.Tick) *given { return &p.given[t%ringTicks] }

// state is what the command of a tick led to.
func (p *predictor) state(t tick.Tick) *state {
	if p.states == nil {
		p.states = new([ringTicks]state)
	}
	return &p.states[t%ringTicks]
}

// holds reports whether the ring still remembers tick t. After a long skip it still contains ticks of before, which do
// not count: nothing leads from there to the newest.
func (p *predictor) holds(t tick.Tick) bool {
	return t != 0 && t <= p.newest && p.newest-t < ringTicks && p.at(t).cmd.Tick == t
}

// foresees reports whether there is a state after the newest command.
func (p *predictor) foresees() bool { return !p.blind && p.holds(p.newest) }

// gave reports whether the command for tick t was really given.
func (p *predictor) gave(t tick.Tick) bool { return p.holds(t) && p.at(t).made }

// push plays the command for the tick after newest and returns what it brings about, valid until the next. view is what
// the command is given if that wants one.
func (p *predictor) push(c sim.Command, view tick.View) []ability.Action {
	if p.first == 0 {
		p.first = c.Tick
	}
	m := p.enter(&c, true)
	if c.Buttons&acting != 0 { // the server may see them act though we do not
		m.cmd.View = view
	}
	for _, a := range p.acts.All() {
		if sim.NeedsView(a.Kind) {
			m.cmd.View = view
		}
	}
	return p.acts.All()
}

// acting are the keys that may let something go that is judged by a view.
const acting = sim.Fire | sim.Throw | sim.Melee

// enter plays the command of the tick after newest and keeps it.
func (p *predictor) enter(c *sim.Command, made bool) *given {
	if !p.blind {
		s := p.state(c.Tick)
		if p.holds(p.newest) {
			*s = *p.state(p.newest)
		} else {
			*s = state{}
		}
		p.play(s, c)
	}
	p.newest = c.Tick
	g := p.at(p.newest)
	g.cmd, g.made = *c, made
	return g
}

// play advances s by one tick.
func (p *predictor) play(s *state, c *sim.Command) {
	if p.acts.Count = 0; s.known && !s.dead {
		p.kit.StepPlayer(&s.Self, c, p.arena, &p.acts)
	}
}

// skip moves on to tick to without commands: each tick in between is played with what the server substitutes, the last
// command's feet for three ticks, then standing still.
func (p *predictor) skip(to tick.Tick) {
	if to <= p.newest {
		return
	}
	if p.first != 0 {
		p.count.Skipped += uint64(to - p.newest)
	}
	if to-p.newest >= ringTicks { // nothing of what is known is near enough to be carried on
		p.newest = to - 1
	}
	for p.newest < to {
		c := p.substitute(p.newest + 1)
		p.enter(&c, false)
	}
}

func (p *predictor) substitute(t tick.Tick) sim.Command {
	if !p.holds(t - 1) {
		return sim.Command{Tick: t}
	}
	c := p.at(t - 1).cmd.Substitute(t)
	for back := tick.Tick(1); back <= substituteTicks; back++ {
		if p.holds(t-back) && p.at(t-back).made {
			return c
		}
	}
	c.MoveMag, c.Buttons = 0, 0
	return c
}

// substituteTicks is how long the server carries on with the last command, see sim.CommandBuffer.
const substituteTicks = 3

// correct compares the server's row of tick t with what was predicted for it. Where they differ it returns what was shown before, of the
// command that is still the newest.
func (p *predictor) correct(t tick.Tick, row *netstate.Self) (before shown) {
	if t <= p.row {
		return
	}
	p.row = t
	p.count.Rows++
	behind := t > p.newest
	if behind { // the server, or we have not begun
		if p.first != 0 {
			p.count.Beyond++
		}
		p.skip(t)
	}
	if !p.holds(t) {
		p.count.Beyond++
		return
	}
	was, is := p.state(t), stateOf(row)
	if *was == is {
		return
	}
	if !behind {
		before = p.shown()
	}
	p.judge(t, was, &is)
	*was = is
	p.replay(t)
	return before
}

// judge counts a difference by its cause.
func (p *predictor) judge(t tick.Tick, was, is *state) {
	switch {
	case !was.known || p.first == 0 || t < p.first:
	case was.dead != is.dead:
		p.count.Lives++
	case was.pushes != is.pushes:
		p.count.Pushes++
	case !is.dead:
		p.count.Mispredictions++
		if p.count.FirstMispredict == 0 {
			p.count.FirstMispredict = t
		}
		p.count.LastMispredict = t
	}
}

// replay plays the commands after tick t again.
func (p *predictor) replay(t tick.Tick) {
	s := p.state(t)
	if t < p.newest && !s.dead {
		p.count.Replays++
		p.count.Replayed += uint64(p.newest - t)
	}
	for t < p.newest {
		t++
		next := p.state(t)
		*next = *s
		s = next
		p.play(s, &p.at(t).cmd)
	}
}

func stateOf(row *netstate.Self) state {
	return state{
		Self: row.Self, pushes: row.Pushes, known: true,
		dead: row.RespawnTicks > 0 || row.Motion.Loco == move.Dead,
	}
}
