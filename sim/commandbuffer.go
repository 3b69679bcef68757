package sim

import (
	"github.com/tickrate/tickrate/ecs/tick"
)

// CommandBuffer holds the commands of one player that have arrived and are not yet used: a ring by
// tick. Commands arrive in any order and as often as windows repeat them; each tick takes one, at
// most once.
type CommandBuffer struct {
	Count   CommandCounts
	last    Command              // newest command that was used
	taken   tick.Tick            // ticks up to this one are over
	newest  tick.Tick            // newest tick that has arrived, in time or not
	repeats uint8                // consecutive ticks without a command
	ring    [bufferTicks]Command // by tick; Tick 0 = empty
}

// bufferTicks bounds how far ahead commands may arrive: 444 ms at 144 Hz, half a second at 128 Hz.
const bufferTicks = 64

// repeatTicks is for how many ticks the last command bridges missing ones; after that the player
// stands still.
const repeatTicks = 3

// CommandCounts counts what happened to each command that was offered, and to each tick.
type CommandCounts struct {
	Accepted uint64 // commands stored
	// commands not stored: seen before, too old, too far ahead, different from the one stored
	Duplicate, Stale, Future, Conflict uint64

	Clamped uint64 // commands stored after a field was sanitized
	Used    uint64 // ticks that ran with the player's own command
	Missing uint64 // ticks that ran without, after the player's first command
}

// Offer stores a command. It is idempotent by tick: the same command again is a duplicate; a
// different one for the same tick is a conflict and refused.
func (b *CommandBuffer) Offer(c Command) {
	at := &b.ring[c.Tick%bufferTicks]
	switch {
	case c.Tick <= b.taken:
		b.newest = max(b.newest, c.Tick)
		b.Count.Stale++
		return
	case c.Tick > b.taken+bufferTicks:
		b.Count.Future++
		return
	}
	mended := c.sanitize()
	switch {
	case at.Tick != c.Tick:
		*at = c
		b.newest = max(b.newest, c.Tick)
		b.Count.Accepted++
		if mended {
			b.Count.Clamped++
		}
	case *at == c:
		b.Count.Duplicate++
	default:
		b.Count.Conflict++
	}
}

// Take returns the command for tick t and whether it is the player's own. Ticks are taken in
// order. The last command's movement bridges a missing one for repeatTicks ticks, then the player
// stands still.
func (b *CommandBuffer) Take(t tick.Tick) (c Command, own bool) {
	own = b.take(t, &c)
	return c, own
}

// take writes the command for tick t to c and reports whether it is the player's own. Otherwise it
// is a substitute.
func (b *CommandBuffer) take(t tick.Tick, c *Command) (own bool) {
	b.taken = t
	if at := &b.ring[t%bufferTicks]; at.Tick == t {
		*c, b.last = *at, *at
		*at = Command{}
		b.repeats = 0
		b.Count.Used++
		return true
	}
	*c = b.last.Substitute(t)
	if b.last.Tick != 0 {
		b.Count.Missing++
	}
	if b.repeats < repeatTicks {
		b.repeats++
	} else {
		c.MoveMag, c.Buttons = 0, 0
	}
	return false
}

// HasView reports whether the command for tick t has arrived and names a view.
func (b *CommandBuffer) HasView(t tick.Tick) bool {
	at := &b.ring[t%bufferTicks]
	return at.Tick == t && at.View != (tick.View{})
}

// Lead is how far the newest command is ahead of tick t, in ticks, in [-128, 127]. The server
// reports this buffer health to the client, which adjusts its clock by it. Below 0 it says how
// late commands are, and keeps falling while none arrive.
func (b *CommandBuffer) Lead(t tick.Tick) int8 {
	return int8(max(min(int64(b.newest)-int64(t), 127), -128))
}

// reset empties the buffer for a new player whose first tick is after t: commands up to t are
// stale.
func (b *CommandBuffer) reset(t tick.Tick) { *b = CommandBuffer{taken: t} }

// DropWaiting removes the commands that wait, for another client of the same player. What the player
// did last and the counts stay.
func (b *CommandBuffer) DropWaiting() { b.ring, b.newest = [bufferTicks]Command{}, 0 }

// drop removes the command for tick t.
func (b *CommandBuffer) drop(t tick.Tick) { b.ring[t%bufferTicks] = Command{} }
