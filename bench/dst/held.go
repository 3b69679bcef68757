package dst

import (
	"github.com/tickrate/tickrate/client"
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// heldRow is the newest snapshot up to some tick that mentions a slot, as far as a client holds it,
// and the player in the slot. A tick of 0 means that no snapshot mentions it.
type heldRow struct {
	at tick.Tick
	id netid.ID // 0: the slot is empty
}

// heldTicks is how far back a row is looked for: more than clients keep.
const heldTicks = 120

// heldNow returns what a client holds of a slot up to a tick.
func heldNow(c *client.Client, slot int, from tick.Tick) heldRow {
	for t := from; t > 0 && t+heldTicks > from; t-- {
		if f := c.Frame(t); f != nil && f.HasRow(slot) {
			return heldRow{t, f.ID(slot)}
		}
	}
	return heldRow{}
}

// heldRows is what a client held, up to the first tick of the view, when it made each of its newest
// commands with a view. Snapshots that come later, out of order, do not change what it showed.
type heldRows struct {
	newest   tick.Tick // command
	commands [64]struct {
		tick tick.Tick
		rows [64]heldRow // by slot
	}
}

// note keeps what a client holds for the commands that it has made since the last call. It must be
// called after each step: a client receives datagrams before it makes the commands of a step.
func (h *heldRows) note(c *client.Client, slots int) {
	_, newest, _ := c.Predicted()
	for h.newest = max(h.newest, newest-min(newest, 64)); h.newest < newest; {
		h.newest++
		cmd, ok := c.Issued(h.newest)
		if !ok || cmd.View.From == 0 {
			continue
		}
		at := &h.commands[h.newest%64]
		at.tick = h.newest
		for slot := range min(slots, len(at.rows)) {
			at.rows[slot] = heldNow(c, slot, cmd.View.From)
		}
	}
}

// before returns what the client held of a slot when it made the command of a tick. False if that
// is not kept.
func (h *heldRows) before(command tick.Tick, slot int) (row heldRow, ok bool) {
	at := &h.commands[command%64]
	if at.tick != command || slot >= len(at.rows) {
		return heldRow{}, false
	}
	return at.rows[slot], true
}
