package agones

import (
	"slices"
	"time"
)

// Times after which a lobby that was opened for an allocation ends.
const (
	emptyAfterPlay = 30 * time.Second // since its last player left
	neverPlayed    = 2 * time.Minute  // since it was opened, if nobody came
)

// Lobby is one lobby of a host.
type Lobby struct {
	ID        uint32
	Map, Mode string
	Players   int
	Slots     int
}

// Rooms tells the lobbies that are taken from those that wait for an allocation. Time is an
// argument; one goroutine may use it.
type Rooms struct {
	taken map[uint32]*room
	first bool // spare is known
	spare []uint32
}

// room is a lobby that was opened for an allocation.
type room struct {
	played bool
	since  time.Duration // when it was opened or had players last
}

// NewRooms returns the rooms of a host that has had no allocation yet.
func NewRooms() *Rooms { return &Rooms{taken: map[uint32]*room{}} }

// Step takes the lobbies of the host at a time. It returns how many are taken: all but those that the
// host began with and that no allocation has claimed. end are the lobbies that are to end: of
// allocations whose players have left, or never came.
func (r *Rooms) Step(now time.Duration, all []Lobby) (taken int, end []uint32) {
	if !r.first {
		r.first = true
		for _, x := range all {
			r.spare = append(r.spare, x.ID)
		}
	}
	there := func(id uint32) bool { return slices.ContainsFunc(all, func(x Lobby) bool { return x.ID == id }) }
	r.spare = slices.DeleteFunc(r.spare, func(id uint32) bool { return !there(id) })
	for id := range r.taken {
		if !there(id) {
			delete(r.taken, id)
		}
	}
	for _, x := range all {
		t := r.taken[x.ID]
		switch {
		case t == nil:
		case x.Players > 0:
			t.played, t.since = true, now
		case now-t.since > neverPlayed || t.played && now-t.since > emptyAfterPlay:
			end = append(end, x.ID)
		}
	}
	return len(all) - len(r.spare), end
}

// Claim takes a lobby that waits and is what an allocation asks for. ok is false if there is none:
// then one is to be made, and to be told by Opened.
func (r *Rooms) Claim(now time.Duration, a Allocation, all []Lobby) (id uint32, ok bool) {
	for i, spare := range r.spare {
		for _, x := range all {
			if x.ID == spare && x.Players == 0 && (a.Map == "" || a.Map == x.Map) &&
				(a.Mode == "" || a.Mode == x.Mode) && a.Players <= x.Slots {
				r.spare = slices.Delete(r.spare, i, i+1)
				r.Opened(now, spare)
				return spare, true
			}
		}
	}
	return 0, false
}

// Opened takes a lobby that was made for an allocation.
func (r *Rooms) Opened(now time.Duration, id uint32) { r.taken[id] = &room{since: now} }
