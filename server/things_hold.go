package server

import (
	"github.com/tickrate/tickrate/ecs/interest"
	"github.com/tickrate/tickrate/ecs/snapshot"
	"github.com/tickrate/tickrate/ecs/tick"
	"github.com/tickrate/tickrate/sim/netstate"
)

// objectAcks is what one connection holds of things.
type objectAcks struct {
	tracker     *snapshot.Tracker
	view        *interest.Client // nil until it is asked for
	selection   objectSelection  // how those of its newest snapshot were chosen
	joined      bool             // it holds all there is, or may be sent it at once
	savedBytes  int              // bytes that its line has left for things
	completeAt  tick.Tick        // of the first snapshot that left out nothing, 0: none
	blocksSince tick.Tick        // since when its snapshots are about all things, 0: they are not
	allSentAt   tick.Tick        // of its newest snapshot in blocks, if none has gone row by row since; else 0
	full        bool             // the last that went row by row had no room for all
	wholeAcked  tick.Tick        // the newest such that it acknowledged as a whole, 0: none
}

func newObjectAcks(c *Config) objectAcks {
	k := snapshot.NewTracker(netstate.ObjectSlots(c.Players)/snapshot.GroupRows, tick.Tick(c.SendInterval))
	k.Alone() // a flight is not expected to go on: it is told once
	return objectAcks{tracker: k}
}

// reset takes the connection to be a new one.
func (h *objectAcks) reset() {
	if h.view != nil {
		h.view.Reset()
	}
	h.tracker.Reset()
	*h = objectAcks{tracker: h.tracker, view: h.view}
}

// forget takes the connection to hold nothing.
func (h *objectAcks) forget() {
	h.tracker.Forget()
	h.joined, h.completeAt, h.blocksSince, h.wholeAcked = false, 0, 0, 0
}

// acked notes that groups of the snapshot of tick t have arrived.
func (h *objectAcks) acked(w *objectPlane, t tick.Tick, s groupRange) {
	h.tracker.Acked(t, s.first, s.count)
	h.joined = h.joined || h.completeAt != 0 && t >= h.completeAt // what is not acked is sent in full again, which must not be much
	if p := w.versionAt(t); h.blocksSince != 0 && t >= h.blocksSince && t > h.wholeAcked && s.first == 0 && p.tick != 0 && s.count == p.groups {
		h.wholeAcked = t
	}
}

// caughtUp reports whether a connection that sees all holds enough for blocks alone, as connection.in does for players.
func (h *objectAcks) caughtUp(w *objectPlane, most int) bool {
	if h.joined {
		return true
	}
	h.joined = popcount(w.used)*thingBits <= 8*most
	if !h.joined && h.tracker.Base(0) != 0 {
		h.joined = true
		for g := range w.frames.Groups() {
			h.joined = h.joined && h.tracker.Base(g) != 0
		}
	}
	return h.joined
}
