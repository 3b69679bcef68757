package predict

import (
	"unsafe"

	"github.com/tickrate/tickrate/client/clock"
	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/prefetch"
	"github.com/tickrate/tickrate/internal/ringbuf"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/netstate"
)

// ringTicks is how many commands and states are remembered.
const ringTicks = clock.History

// Predictor plays commands tick by tick. Rings by tick hold each command and the state after it. An
// owner row of the server replaces a state; if it differs, all later commands are played again.
type Predictor struct {
	CommandsOnly bool      // commands are kept and not played: there are no states
	Newest       tick.Tick // of the commands
	First        tick.Tick // of the first command that the player issued; 0 before it
	row          tick.Tick // of the newest owner row
	starved      uint8     // of the newest owner row
	Arena        *arena.Arena
	Kit          *sim.CompiledGame
	states       *[ringTicks]State // allocated with the first
	Error        ErrorOffset       // left to smooth, for the picture
	Stats        Stats
	Log          *ringbuf.Ring[Correction] // rows that differed; nil: none are kept
	acts         ability.Actions           // of the tick that was played last
	commands     [ringTicks]command
}

// command is the command of a tick.
type command struct {
	sim.Command
	issued bool // by the player; otherwise the clock skipped the tick and the server substitutes
}

// State is what a player predicts of itself.
type State struct {
	sim.Self
	Known  bool  // false until the first owner row
	Dead   bool  // neither moves nor fires until the server says otherwise
	Pushes uint8 // knock-backs and teleports so far; only rows tell of more
}

// Alive reports whether the state is known and the player lives.
func (s *State) Alive() bool { return s.Known && !s.Dead }

// Stats counts what the predictor does.
type Stats struct {
	Rows            uint64 // owner rows compared
	Mispredictions  uint64 // rows that differed while alive, after the server had the first command
	Lives           uint64 // rows of a death or a respawn: not predictable, not counted above
	Pushes          uint64 // rows of a knock-back or a teleport: likewise
	Replays         uint64 // times commands were played again for any of these; none for the dead
	Replayed        uint64 // ticks played again
	Skipped         uint64 // ticks without a command, because the clock jumped over them
	Beyond          uint64 // rows too old for the ring, or of ticks without a command yet
	FirstMispredict tick.Tick
	LastMispredict  tick.Tick
}

// Reset forgets commands and states for a change of the map. Memory and Stats stay.
func (p *Predictor) Reset() {
	p.Error.Reset()
	*p = Predictor{CommandsOnly: p.CommandsOnly, states: p.states, Stats: p.Stats, Error: p.Error,
		Log: p.Log}
}

func (p *Predictor) at(t tick.Tick) *command { return &p.commands[t%ringTicks] }

// State is the state after the command of tick t.
func (p *Predictor) State(t tick.Tick) *State {
	if p.states == nil {
		p.states = new([ringTicks]State)
	}
	return &p.states[t%ringTicks]
}

// Prefetch asks for the places of tick t and of the tick before it.
func (p *Predictor) Prefetch(t tick.Tick) {
	prefetch.Bytes(unsafe.Pointer(p.at(t)), unsafe.Sizeof(command{}))
	if p.states != nil {
		prefetch.Bytes(unsafe.Pointer(&p.states[(t-1)%ringTicks]), unsafe.Sizeof(State{}))
		prefetch.Bytes(unsafe.Pointer(&p.states[t%ringTicks]), unsafe.Sizeof(State{}))
	}
}

// holds reports whether the ring remembers tick t. Ticks from before a long skip do not count:
// nothing leads from there to the newest.
func (p *Predictor) holds(t tick.Tick) bool {
	return t != 0 && t <= p.Newest && p.Newest-t < ringTicks && p.at(t).Tick == t
}

// Ready reports whether there is a state after the newest command.
func (p *Predictor) Ready() bool { return !p.CommandsOnly && p.holds(p.Newest) }

// Issued reports whether the player issued the command of tick t.
func (p *Predictor) Issued(t tick.Tick) bool { return p.holds(t) && p.at(t).issued }

// Command is the command of tick t with the view that it carries. False if the player issued none,
// or it is older than the two seconds that are remembered.
func (p *Predictor) Command(t tick.Tick) (sim.Command, bool) {
	if !p.Issued(t) {
		return sim.Command{}, false
	}
	return p.at(t).Command, true
}

// Push plays the command of the tick after Newest and returns its actions, valid until the next
// Push. The command carries the view if the server may judge one of its actions by it.
func (p *Predictor) Push(c sim.Command, view tick.View) []ability.Action {
	if p.First == 0 {
		p.First = c.Tick
	}
	kept := p.enter(&c)
	kept.issued = true
	if c.Buttons&Acting != 0 { // the server may see an action that the prediction lacks
		kept.View = view
	}
	for _, a := range p.acts.All() {
		if sim.NeedsView(a.Kind) {
			kept.View = view
		}
	}
	return p.acts.All()
}

// Acting are the buttons of actions that the server judges by a view.
const Acting = sim.Fire | sim.Throw | sim.Melee

// enter plays the command of the tick after Newest and keeps it as one that the player did not
// issue.
func (p *Predictor) enter(c *sim.Command) *command {
	if !p.CommandsOnly {
		s := p.State(c.Tick)
		if p.holds(p.Newest) {
			*s = *p.State(p.Newest)
		} else {
			*s = State{}
		}
		p.play(s, c)
	}
	p.Newest = c.Tick
	kept := p.at(p.Newest)
	kept.Command, kept.issued = *c, false
	return kept
}

// play advances s by one tick.
func (p *Predictor) play(s *State, c *sim.Command) {
	if p.acts.Count = 0; s.Alive() {
		p.Kit.StepPlayer(&s.Self, c, p.Arena, &p.acts)
	}
}

// Skip moves Newest to a later tick without commands. Each tick between is played with the server's
// substitute: the last command's movement for three ticks, then none.
func (p *Predictor) Skip(to tick.Tick) {
	if to <= p.Newest {
		return
	}
	if p.First != 0 {
		p.Stats.Skipped += uint64(to - p.Newest)
	}
	if to-p.Newest >= ringTicks { // every known state is too old to carry on from
		p.Newest = to - 1
	}
	for p.Newest < to {
		c := p.substitute(p.Newest + 1)
		p.enter(&c)
	}
}

// substituteTicks is how long the server repeats the last command, see sim.CommandBuffer.
const substituteTicks = 3

// substitute returns the command that the server runs in a tick without one of the player.
func (p *Predictor) substitute(t tick.Tick) sim.Command {
	if !p.holds(t - 1) {
		return sim.Command{Tick: t}
	}
	c := p.at(t - 1).Substitute(t)
	for back := tick.Tick(1); back <= substituteTicks; back++ {
		if p.Issued(t - back) {
			return c
		}
	}
	c.MoveMag, c.Buttons = 0, 0
	return c
}

// Reconcile compares the owner row of tick t with the prediction for that tick. If they differ, it
// adopts the row and plays the later commands again; if that moves a living player, Error takes the
// difference.
func (p *Predictor) Reconcile(t tick.Tick, row *netstate.Self) {
	if t <= p.row {
		return
	}
	last, starved := p.row, row.Starved-p.starved
	p.row, p.starved = t, row.Starved
	p.Stats.Rows++
	behind := t > p.Newest
	if behind { // the server is ahead, or no command was issued yet
		if p.First != 0 {
			p.Stats.Beyond++
		}
		p.Skip(t)
	}
	if !p.holds(t) {
		p.Stats.Beyond++
		return
	}
	was, is := p.State(t), stateOf(row)
	if *was == is {
		return
	}
	from, lived := p.position()
	cause, counts := p.causeOf(t, was, &is)
	if counts {
		p.count(t, cause)
		if p.Log != nil {
			p.record(t, last, cause, &is, starved)
		}
	}
	*was = is
	p.replay(t)
	if to, lives := p.position(); lived && lives && !behind {
		p.Error.Add(from, to)
		if counts && p.Log != nil {
			p.Log.At(p.Log.Added() - 1).Moved = to.Sub(from)
		}
	}
}

// position is where a living player is after the newest command.
func (p *Predictor) position() (pos geom.Vec3, ok bool) {
	if !p.Ready() {
		return pos, false
	}
	s := p.State(p.Newest)
	return s.Motion.Pos, s.Alive()
}

// causeOf tells why a row differs. counts is false for rows of the dead, and for rows from before
// the server had a command.
func (p *Predictor) causeOf(t tick.Tick, was, is *State) (cause Cause, counts bool) {
	switch {
	case !was.Known || p.First == 0 || t < p.First:
		return 0, false
	case was.Dead != is.Dead:
		return Life, true
	case was.Pushes != is.Pushes:
		return Push, true
	}
	return Misprediction, !is.Dead
}

// count counts a difference by its cause.
func (p *Predictor) count(t tick.Tick, cause Cause) {
	switch cause {
	case Life:
		p.Stats.Lives++
	case Push:
		p.Stats.Pushes++
	case Misprediction:
		p.Stats.Mispredictions++
		if p.Stats.FirstMispredict == 0 {
			p.Stats.FirstMispredict = t
		}
		p.Stats.LastMispredict = t
	}
}

// replay plays the commands after tick t again.
func (p *Predictor) replay(t tick.Tick) {
	s := p.State(t)
	if t < p.Newest && !s.Dead {
		p.Stats.Replays++
		p.Stats.Replayed += uint64(p.Newest - t)
	}
	for t < p.Newest {
		t++
		next := p.State(t)
		*next = *s
		s = next
		p.play(s, &p.at(t).Command)
	}
}
