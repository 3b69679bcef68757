package predict

import (
	"math/bits"

	"github.com/tickrate/tickrate/ecs/geom"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim"
	"github.com/tickrate/tickrate/sim/ability"
	"github.com/tickrate/tickrate/sim/arena"
	"github.com/tickrate/tickrate/sim/move"
	"github.com/tickrate/tickrate/sim/netstate"
)

// Cause is why an owner row differs from the prediction.
type Cause uint8

// The causes. Only a misprediction is an error of the prediction: the server tells of the others.
const (
	Misprediction Cause = iota // the same player, alive on both sides, in another state
	Push                       // a knock-back or a teleport
	Life                       // a death or a respawn
	causes
)

// String names the cause.
func (c Cause) String() string {
	if c < causes {
		return [causes]string{"misprediction", "push", "life"}[c]
	}
	return "?"
}

// MaxLed is the most commands of a Correction.
const MaxLed = 16

// Correction is an owner row that differed from the prediction, and what led there.
type Correction struct {
	Tick      tick.Tick // of the row
	Since     tick.Tick // of the row before it, from which both sides played on; 0: unknown
	Newest    tick.Tick // command: the ticks after Tick were played again
	Cause     Cause
	Base      State     // at Since
	Predicted State     // at Tick
	Server    State     // at Tick
	Starved   int       // ticks after Since that the server played without the player's command
	Early     bool      // the server may have had no command yet: before, it counts none as missing
	Moved     geom.Vec3 // of the prediction after the newest command; zero unless it lives on
	Led       int       // commands in Commands
	Commands  [MaxLed]LedCommand
}

// LedCommand is a command up to Correction.Tick, the oldest first.
type LedCommand struct {
	sim.Command
	Issued bool // by the player; otherwise the clock skipped the tick
}

// All returns the commands, the oldest first.
func (c *Correction) All() []LedCommand { return c.Commands[:c.Led] }

// record keeps the difference at tick t in Log. since is the row before, in which the server counted
// starved ticks without a command.
func (p *Predictor) record(t, since tick.Tick, cause Cause, is *State, starved uint8) {
	c := p.Log.Next()
	*c = Correction{
		Tick: t, Newest: p.Newest, Cause: cause, Predicted: *p.State(t), Server: *is,
		Starved: int(starved), Early: since < p.First,
	}
	if p.holds(since) {
		c.Since, c.Base = since, *p.State(since)
	}
	from := t
	for t-from < MaxLed-1 && p.holds(from-1) {
		from--
	}
	for ; from <= t; from++ {
		at := p.at(from)
		c.Commands[c.Led] = LedCommand{at.Command, at.issued}
		c.Led++
	}
}

// Lost finds the ticks after Since for which the server had no command: played again with the
// server's substitutes for them, the commands lead to the server's state, to the bit. ok is false if
// no such ticks explain the difference, or too long ago the last row came.
func (c *Correction) Lost(kit *sim.CompiledGame, a *arena.Arena) (lost []tick.Tick, ok bool) {
	first := c.Led - int(c.Tick-c.Since)
	if c.Cause != Misprediction || !c.Base.Alive() || first < 0 || c.Starved == 0 && !c.Early {
		return nil, false
	}
	n := c.Led - first
	for set := range uint32(1) << n {
		if !c.mayLack(set) {
			continue
		}
		for before := 0; before <= substituteTicks+1 && before < max(first, 1); before++ {
			if c.leadsThere(first, before, set, kit, a) {
				for i := range n {
					if set>>i&1 != 0 {
						lost = append(lost, c.Commands[first+i].Tick)
					}
				}
				return lost, true
			}
		}
	}
	return nil, false
}

// mayLack reports whether the server may have lacked the commands in set: as many as it counted, or
// the first ones, which it does not count.
func (c *Correction) mayLack(set uint32) bool {
	if c.Starved == 0 && c.Early {
		return set != 0 && set&(set+1) == 0
	}
	return bits.OnesCount32(set) == c.Starved
}

// leadsThere plays the commands from first on as the server does that lacks those in set, and the
// last ones before first. It reports whether that gives the server's state.
func (c *Correction) leadsThere(
	first, before int, set uint32, kit *sim.CompiledGame, a *arena.Arena,
) bool {
	var acts ability.Actions
	s, repeats := c.Base.Self, before
	var last sim.Command
	if first > before {
		last = c.Commands[first-1-before].Command
	}
	for i := first; i < c.Led; i++ {
		cmd := c.Commands[i].Command
		if set>>(i-first)&1 == 0 {
			last, repeats = cmd, 0
		} else {
			cmd = last.Substitute(cmd.Tick)
			if repeats++; repeats > substituteTicks {
				cmd.MoveMag, cmd.Buttons = 0, 0
			}
		}
		kit.StepPlayer(&s, &cmd, a, &acts)
	}
	return s == c.Server.Self
}

// stateOf is the state that an owner row tells.
func stateOf(row *netstate.Self) State {
	return State{
		Self: row.Self, Pushes: row.Pushes, Known: true,
		Dead: row.RespawnTicks > 0 || row.Motion.Loco == move.Dead,
	}
}
