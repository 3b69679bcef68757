package sim

import (
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/internal/planted"
)

// CommandBuffer holds the commands of one player that have arrived and are not yet used: a ring by tick. Commands enter in any
// order and as often as the window repeats them; each tick takes one out, at most once.
type CommandBuffer struct {
	ring    [bufferTicks]Command // by tick; Tick 0 = empty
	last    Command              // the newest that was used
	taken   tick.Tick            // ticks up to this one are over
	newest  tick.Tick            // newest tick that has arrived, in time or not
	repeats uint8                // ticks in a row that had to do without a command
	Count   CommandCounts
}

// bufferTicks bounds how far ahead commands may arrive: half a second at 128 Hz.
const bufferTicks = 64

// repeatTicks is how long a missing command is bridged by the last one; after that the player stands still.
const repeatTicks = 3

// CommandCounts tells what became of every command that was offered, and of every tick.
type CommandCounts struct {
	Accepted uint64 // commands taken in
	Duplicate, Stale, Future, Conflict,
	Clamped uint64 // commands not taken in, by reason; clamped ones were taken in after a field was mended
	Used    uint64 // ticks that ran with the player's own command
	Missing uint64 // ticks that ran without, after the player's first command
}

// Offer takes a command in. It is idempotent by tick: the same command again is a duplicate, another one for a tick
// that has one is a conflict and refused.
func (b *CommandBuffer) Offer(c Command) {
	at := &b.ring[c.Tick%bufferTicks]
	switch {
	case c.Tick <= b.taken:
		b.newest = max(b.newest, c.Tick)
		b.Count.Stale++
		return
	case c.Tick > b.taken+bufferTicks && !planted.On(planted.InputFar):
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

// Take returns the command for tick t and whether it is the player's own. Ticks are taken in order. A missing command
// is bridged by the last one's feet for repeatTicks ticks, then by standing still.
func (b *CommandBuffer) Take(t tick.Tick) (c Command, own bool) {
	own = b.take(t, &c)
	return c, own
}

func (b *CommandBuffer) take(t tick.Tick, c *Command) (own bool) {
	b.taken = t
	if at := &b.ring[t%bufferTicks]; at.Tick == t {
		*c, b.last = *at, *at
		*at = Command{}
		b.repeats = 0
		b.Count.Used++
		return true
	}
	if planted.On(planted.InputTwice) && b.last.Tick != 0 {
		b.last.Tick = t
		b.Count.Used++
		*c = b.last
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

// NeedsView reports whether the command for tick t is here and names a view.
func (b *CommandBuffer) HasView(t tick.Tick) bool {
	at := &b.ring[t%bufferTicks]
	return at.Tick == t && at.View != (tick.View{})
}

// Lead is how far the newest command that has come is beyond tick t, in ticks, in [-128, 127]: the health of the buffer, reported to
// the client, which speeds up or slows down by it. Below 0 it says by how much commands come too late, and keeps falling where none do.
func (b *CommandBuffer) Lead(t tick.Tick) int8 {
	return int8(max(min(int64(b.newest)-int64(t), 127), -128))
}

// reset empties the inbox for a new player whose first tick is after t: commands up to t are stale.
func (b *CommandBuffer) reset(t tick.Tick) { *b = CommandBuffer{taken: t} }
