// Package idle tells who is at the table and does not play. What a player's controls are at each tick goes in; when to warn and when to
// remove the player comes out. It opens no socket, starts no goroutine and reads no clock.
package idle

import (
	"fmt"

	"github.com/tickrate/tickrate/ecs/tick"
)

// Params say how long is too long, in seconds. Zero fields mean the defaults named.
type Params struct {
	WarnSeconds int // default 90; negative: never
	KickSeconds int // default 120; negative: never
}

// maxSeconds is a day.
const maxSeconds = 86400

// Limits are Params in ticks; 0 is never.
type Limits struct{ Warn, Kick tick.Tick }

// Compile turns seconds into ticks.
func (p Params) Compile(rate tick.Rate) (l Limits, err error) {
	if l.Warn, err = ticks("warn", p.WarnSeconds, 90, rate); err != nil {
		return Limits{}, err
	}
	if l.Kick, err = ticks("kick", p.KickSeconds, 120, rate); err != nil {
		return Limits{}, err
	}
	if l.Kick != 0 && l.Warn >= l.Kick {
		return Limits{}, fmt.Errorf("idle: warn after %d ticks: expected less than the %d of kick", l.Warn, l.Kick)
	}
	return l, nil
}

func ticks(what string, seconds, otherwise int, rate tick.Rate) (tick.Tick, error) {
	switch {
	case seconds < 0:
		return 0, nil
	case seconds == 0:
		seconds = otherwise
	case seconds > maxSeconds:
		return 0, fmt.Errorf("idle: %s after %d s: expected 1 to %d, or a negative number for never", what, seconds, maxSeconds)
	}
	return tick.Tick(seconds) * tick.Tick(rate), nil
}

// Action is what is to be done about a player.
type Action uint8

// The actions. Each but None comes once for each time of idleness.
const (
	None Action = iota
	Warn        // tell that the kick is near
	Back        // a player who was warned plays again
	Kick        // remove the player
)

// Tracker is what is known of one player. A zero Tracker knows nothing: use a new one for each player. I is what of a command the player
// decides: keys and directions, and neither its tick nor its view, which change by themselves.
type Tracker[I comparable] struct {
	input      I
	since      tick.Tick // of the input
	seen       bool
	lastAction Action // the last
}

// Step takes what a player's controls are at a tick, and returns what is to be done. A player whose commands do not arrive has the
// controls of the last that did. A key that is held for ever is as idle as none. Who is exempt, such as a bot or somebody who only looks
// on, is never idle, and begins anew when that ends. Ticks grow from call to call.
func (w *Tracker[I]) Step(now tick.Tick, input I, exempt bool, l Limits) Action {
	if exempt || !w.seen || input != w.input {
		warned := w.lastAction == Warn
		*w = Tracker[I]{input: input, since: now, seen: true}
		if warned {
			return Back
		}
		return None
	}
	for _, due := range [...]struct {
		action Action
		after  tick.Tick
	}{{Kick, l.Kick}, {Warn, l.Warn}} {
		if due.after != 0 && now-w.since >= due.after {
			if w.lastAction >= due.action {
				return None
			}
			w.lastAction = due.action
			return due.action
		}
	}
	return None
}

// Left is how many ticks there are until the kick, if nothing changes; 0 if there is none to come.
func (w *Tracker[I]) Left(now tick.Tick, l Limits) tick.Tick {
	if !w.seen || l.Kick == 0 || now-w.since >= l.Kick {
		return 0
	}
	return l.Kick - (now - w.since)
}
