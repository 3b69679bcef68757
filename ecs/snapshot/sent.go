package snapshot

import (
	"github.com/tickrate/tickrate/ecs/netid"
	"github.com/tickrate/tickrate/ecs/tick"
)

// NewestAcked is the tick of the newest snapshot of the last Window that has id and that the
// client is known to hold; 0 if there is none. ring holds the frames that were sent.
func (k *Tracker) NewestAcked(ring *Ring, id netid.ID) (newest tick.Tick) {
	for row, t := range k.sent {
		if t > newest {
			if _, visible := k.rowSentAs(ring, row, id); visible {
				newest = t
			}
		}
	}
	return newest
}

// RowSent reports whether the newest snapshot had the row of a slot. known is false after Forget,
// until the next snapshot.
func (k *Tracker) RowSent(slot int) (sent, known bool) {
	l, row := &k.rows, k.at
	switch {
	case k.sent[row] == 0:
		return false, false
	case l.byRow>>row&1 == 0:
		return slot/GroupRows < k.groups, true
	}
	return l.hasVisible>>row&1 != 0 && l.visible(row)[slot>>6]>>(slot&63)&1 != 0, true
}

// MayShow reports whether the client may show the row of a slot: one was sent there, and no later
// acknowledgement says that the slot is empty.
func (k *Tracker) MayShow(slot int) bool {
	l := &k.rows
	return k.whole || l.words != 0 && l.maybeVisible[slot>>6]>>(slot&63)&1 != 0
}

// SawInView reports whether the client, as far as its acknowledgements tell, showed id in a view.
// It did if
//
//	the newest snapshot up to the view's first one that mentions the slot has id, or
//	none up to there mentions the slot, and a later one, which then stands in, has id.
//
// After Forget nothing is known until the client acknowledges again.
func (k *Tracker) SawInView(ring *Ring, id netid.ID, v tick.View) bool {
	last, before, later := tick.Tick(0), false, false
	for row, t := range k.sent {
		mentions, visible := k.rowSentAs(ring, row, id)
		switch {
		case !mentions:
		case t <= v.From:
			if t > last {
				last, before = t, visible
			}
		default:
			later = later || visible
		}
	}
	return before || last == 0 && later
}

// rowSentAs returns what a snapshot of the window says of id's slot: whether it mentions the slot,
// and whether with id. A row counts once it is acked; an empty slot counts from when it was sent,
// as it is sent again until it arrives.
func (k *Tracker) rowSentAs(ring *Ring, row int, id netid.ID) (mentions, visible bool) {
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
