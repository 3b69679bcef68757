package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// hold is what one connection holds of things.
type hold struct {
	tracker *snapshot.Tracker
	eyes    *interest.Client // nil until it is asked for
	told    told             // how those of its newest snapshot were chosen
	entered bool             // it holds all there is, or may be sent it at once
	saved   int              // bytes that its line has left for things
	settled tick.Tick        // of the first snapshot that left out nothing, 0: none
	blocks  tick.Tick        // since when its snapshots are about all things, 0: they are not
	even    tick.Tick        // of its newest snapshot in blocks, if none has gone row by row since; else 0
	full    bool             // the last that went row by row had no room for all
	whole   tick.Tick        // the newest such that it acknowledged as a whole, 0: none
}

func newHold(c *Config) hold {
	k := snapshot.NewTracker(netstate.ThingSlots(c.Players)/snapshot.GroupRows, tick.Tick(c.Interval))
	k.Alone() // a flight is not expected to go on: it is told once
	return hold{tracker: k}
}

// reset takes the connection to be a new one.
func (h *hold) reset() {
	if h.eyes != nil {
		h.eyes.Reset()
	}
	h.tracker.Reset()
	*h = hold{tracker: h.tracker, eyes: h.eyes}
}

// forget takes the connection to hold nothing.
func (h *hold) forget() {
	h.tracker.Forget()
	h.entered, h.settled, h.blocks, h.whole = false, 0, 0, 0
}

// acked notes that groups of the snapshot of tick t have arrived.
func (h *hold) acked(w *things, t tick.Tick, s span) {
	h.tracker.Acked(t, s.first, s.count)
	h.entered = h.entered || h.settled != 0 && t >= h.settled // what is not acked is sent in full again, which must not be much
	if p := w.pastOf(t); h.blocks != 0 && t >= h.blocks && t > h.whole && s.first == 0 && p.tick != 0 && s.count == p.groups {
		h.whole = t
	}
}

// in reports whether a connection that sees all holds enough for blocks alone, as connection.in does for players.
func (h *hold) in(w *things, most int) bool {
	if h.entered {
		return true
	}
	h.entered = size(w.used)*thingBits <= 8*most
	if !h.entered && h.tracker.Base(0) != 0 {
		h.entered = true
		for g := range w.frames.Groups() {
			h.entered = h.entered && h.tracker.Base(g) != 0
		}
	}
	return h.entered
}
