// Package idle finds players that give no input (Tracker), and players that do and take no part in the
// match (Passive). A player's input, place and hits go in; when to warn and when to remove the player
// comes out. One goroutine owns a Tracker or a Passive. The package opens no socket, starts no goroutine
// and reads no clock.
package idle

import "github.com/tickrate/tickrate/ecs/tick"

// Limits are the times without a change of input, in ticks, after which a player is warned and
// removed; 0 is never.
type Limits struct{ Warn, Kick tick.Tick }

// Action is what is due for a player.
type Action uint8

// The actions. Each but None is due once in a time without input.
const (
	None Action = iota
	Warn        // tell the player that the kick is near
	Back        // a player that was warned gives input again
	Kick        // remove the player
)

// Tracker has the input of one player. The zero value is ready; a new player needs a new one. I is
// the part of a command that the player decides: keys and directions. A tick or a view changes by
// itself and does not belong to it.
type Tracker[I comparable] struct {
	input I
	since tick.Tick // when the input last changed
	seen  bool
	last  Action // due most recently since then
}

// Step takes the input of a tick and returns the action that is due. A player whose commands do not
// arrive has the input of the last one; a key that is held for ever is no input. Ticks grow from
// call to call.
func (t *Tracker[I]) Step(now tick.Tick, input I, l Limits) Action {
	if !t.seen || input != t.input {
		return t.Exempt(now, input)
	}
	action, _ := l.due(now-t.since, &t.last)
	return action
}

// due returns the action that is due after some ticks, once, and whether any is or was. last is the
// action before.
func (l Limits) due(after tick.Tick, last *Action) (Action, bool) {
	for _, due := range [...]struct {
		action Action
		after  tick.Tick
	}{{Kick, l.Kick}, {Warn, l.Warn}} {
		if due.after != 0 && after >= due.after {
			if *last >= due.action {
				return None, true
			}
			*last = due.action
			return due.action, true
		}
	}
	return None, false
}

// Exempt takes the place of Step for a player that may be idle in this tick, such as a spectator.
// The time without input starts anew.
func (t *Tracker[I]) Exempt(now tick.Tick, input I) Action {
	warned := t.last == Warn
	*t = Tracker[I]{input: input, since: now, seen: true}
	if warned {
		return Back
	}
	return None
}

// Left returns the ticks until the kick if the input does not change; 0 if none is to come.
func (t *Tracker[I]) Left(now tick.Tick, l Limits) tick.Tick {
	if !t.seen || l.Kick == 0 || now-t.since >= l.Kick {
		return 0
	}
	return l.Kick - (now - t.since)
}
