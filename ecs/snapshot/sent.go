package snapshot

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// NewestAcked is the tick of the newest snapshot that showed id and that the client is known to hold, of the last Window; 0 if none
// did. ring holds the frames that were sent.
func (k *Tracker) NewestAcked(ring *Ring, id netid.ID) (newest tick.Tick) {
	for row, t := range k.sent {
		if t > newest {
			if _, shown := k.rowSentAs(ring, row, id); shown {
				newest = t
			}
		}
	}
	return newest
}

// RowSent reports whether the newest snapshot said the row of a slot as it is; not known where the client has been taken to have lost
// everything since.
func (k *Tracker) RowSent(slot int) (said, known bool) {
	l, row := &k.rows, k.at
	switch {
	case k.sent[row] == 0:
		return false, false
	case l.byRow>>row&1 == 0:
		return slot/GroupRows < k.groups, true
	}
	return l.hasVisible>>row&1 != 0 && l.visible(row)[slot>>6]>>(slot&63)&1 != 0, true
}

// SawInView reports whether the client, as far as is known of what arrived, had id before it in a view. It had if
//
//	the newest snapshot up to the view's first one that said anything of the slot showed id, or
//	none up to there said anything of the slot, and a later one, which then stands in, showed id.
//
// Of a client that has been taken to have lost everything nothing is known until it acknowledges again.
func (k *Tracker) SawInView(ring *Ring, id netid.ID, v tick.View) bool {
	last, before, later := tick.Tick(0), false, false
	for row, t := range k.sent {
		said, shown := k.rowSentAs(ring, row, id)
		switch {
		case !said:
		case t <= v.From:
			if t > last {
				last, before = t, shown
			}
		default:
			later = later || shown
		}
	}
	return before || last == 0 && later
}

// maybeVisible is what a snapshot of the window said of id's slot: anything, and that id is there. What showed somebody counts once
// it is acked; what said that nobody is there counts from when it was sent, as it is said again until it arrives.
func (k *Tracker) rowSentAs(ring *Ring, row int, id netid.ID) (said, shown bool) {
	t, slot := k.sent[row], id.Index()
	g := slot / GroupRows
	if t == 0 || g >= k.groups {
		return false, false
	}
	if l := &k.rows; l.byRow>>row&1 != 0 {
		switch {
		case l.hasRemoved>>row&1 != 0 && l.removed(row)[slot>>6]>>(slot&63)&1 != 0:
			return true, false
		case l.hasAcked>>row&1 == 0 || l.acked(row)[slot>>6]>>(slot&63)&1 == 0:
			return false, false
		}
	} else if k.bits(row)[g>>6]>>(g&63)&1 == 0 {
		return false, false
	}
	f := ring.At(t)
	return f != nil, f != nil && f.ID(slot) == id
}
