package director

import (
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// hold is a reservation in a room.
type hold struct {
	Request string `json:"request"`
	Until   int64  `json:"until"` // Unix ms
	// Players of the room once all that were promised a place have come, this party included: so a
	// place is not counted twice when its player is there.
	Mark int `json:"mark"`
}

// holds are the reservations of a room: a value of the key-value store at one revision.
type holds struct {
	list     []hold
	revision uint64 // of the store; 0: not stored
}

// mark is how many of the room's slots are promised.
func (h holds) mark() (most int) {
	for i := range h.list {
		most = max(most, h.list[i].Mark)
	}
	return most
}

// live returns the reservations that have not expired.
func (h holds) live(now time.Time) holds {
	over := func(r hold) bool { return now.UnixMilli() >= r.Until }
	if slices.ContainsFunc(h.list, over) {
		h.list = slices.DeleteFunc(slices.Clone(h.list), over)
	}
	return h
}

// with returns the reservations and another one.
func (h holds) with(r hold) holds {
	h.list = append(slices.Clip(h.list), r)
	return h
}

// parseHolds reads a value of the store. One that the fleet did not seal has no reservations: it is
// overwritten by the next.
func (s *store) parseHolds(e jetstream.KeyValueEntry) holds {
	h := holds{revision: e.Revision()}
	if s.open(e, &h.list) != nil {
		h.list = nil
	}
	return h
}
