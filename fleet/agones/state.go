package agones

import (
	"cmp"
	"strconv"
	"time"
)

// Allocation is a lobby that an allocator asked this game server for. Zero fields mean what the
// server was started with.
type Allocation struct {
	Map, Mode string
	Players   int
}

// state is what a Client knows of its GameServer. Records, figures and times go in; what is to be done
// comes out. It has no clock and no socket.
type state struct {
	settle time.Duration // after which a difference that stays is no longer one of messages under way

	seen      bool
	version   int // of the newest record
	phase     string
	period    time.Duration
	drained   bool      // the record says that the server is to go
	allocated time.Time // LastAllocated of the newest allocation that was answered
	newest    Allocation
	rooms     int           // count of the newest record
	counted   int           // lobbies that the counter has as soon as all messages have arrived
	capacity  int           // as the counter was set
	known     bool          // the counter was set to counted, and only changed by what is known since
	moved     time.Duration // when rooms or counted changed last
}

// observe takes a record, in any order and as often as it comes. asked means that it tells of an
// allocation that was not answered yet: a lobby is to be opened for it. fresh means that it is not
// older than one before.
func (s *state) observe(now time.Duration, g *GameServer) (a Allocation, asked, fresh bool) {
	version, err := strconv.Atoi(g.Meta.ResourceVersion)
	if s.seen && err == nil && version < s.version {
		return a, false, false
	}
	s.seen, s.version, s.phase = true, version, g.Status.State
	s.period = time.Duration(g.Spec.Health.PeriodSeconds) * time.Second
	if g.Meta.Labels[DrainLabel] == "true" || g.Meta.Deleted != 0 || s.phase == StateShutdown {
		s.drained = true
	}
	if rooms := int(g.Status.Counters[CounterRooms].Count); rooms != s.rooms {
		s.rooms, s.moved = rooms, now
	}
	at, err := time.Parse(time.RFC3339Nano, g.Meta.Annotations[LastAllocated])
	if err != nil || !at.After(s.allocated) {
		return a, false, true
	}
	s.allocated, s.newest = at, allocationOf(g)
	s.counted++
	s.moved = now
	return s.newest, true, true
}

// missed returns how many lobbies allocators have asked for beside those that observe told of: several
// allocations may come in one record, and then only the counter has them. They are like the newest.
func (s *state) missed(now time.Duration) (n int) {
	if !s.known || now-s.moved < s.settle || s.rooms <= s.counted {
		return 0
	}
	n = s.rooms - s.counted
	s.counted, s.moved = s.rooms, now
	return n
}

// allocationOf reads what the newest allocation says of its lobby; labels go before annotations.
func allocationOf(g *GameServer) (a Allocation) {
	value := func(key string) string { return cmp.Or(g.Meta.Labels[key], g.Meta.Annotations[key]) }
	a.Map, a.Mode = value(MapKey), value(ModeKey)
	a.Players, _ = strconv.Atoi(value(PlayersKey)) // not a number: the server's own size
	return a
}

// change is a request that changes the counter of lobbies. Fields that are nil stay as they are.
type change struct {
	Count    *Int64 `json:"count,omitempty"`
	Capacity *Int64 `json:"capacity,omitempty"`
	Diff     *Int64 `json:"countDiff,omitempty"`
}

// Figures are what a game server says of itself.
type Figures struct {
	Taken    int // lobbies
	Most     int // lobbies
	Draining bool
	Players  []string // client ids of connected players, in an order that stays
}

// next returns the request that brings the counter nearer to the figures, nil if it is there. The
// counter is set once and then changed by differences, since an allocator may change it meanwhile.
func (s *state) next(now time.Duration, f Figures) *change {
	if now-s.moved >= s.settle && s.rooms < s.counted { // somebody else has lowered it
		s.known = false
	}
	taken, most := f.Taken, f.Most
	if f.Draining {
		taken, most = 0, 0
	}
	switch {
	case !s.known: // the capacity comes first, and one below the count is refused
		return &change{Count: new(Int64(taken)), Capacity: new(Int64(max(taken, most, s.rooms)))}
	case f.Draining && s.counted != 0: // a capacity below the count is refused
		return &change{Count: new(Int64(0))}
	case most != s.capacity:
		return &change{Capacity: new(Int64(most))}
	case taken != s.counted:
		return &change{Diff: new(Int64(taken - s.counted))}
	}
	return nil
}

// done takes the outcome of a request: whether it was accepted. One that failed may have been
// carried out or not, so the counter is set anew.
func (s *state) done(now time.Duration, c *change, accepted bool) {
	s.moved = now
	if !accepted {
		s.known = false
		return
	}
	if c.Capacity != nil {
		s.capacity = int(*c.Capacity)
	}
	if c.Count != nil {
		s.counted, s.known = int(*c.Count), true
	}
	if c.Diff != nil {
		s.counted += int(*c.Diff)
	}
}

// healthEvery is the time between two calls of /health: half of the period that the fleet allows.
func (s *state) healthEvery() time.Duration { return cmp.Or(s.period, 2*time.Second) / 2 }

// unready reports whether the record still waits for /ready.
func (s *state) unready() bool { return s.phase == "" || s.phase == StateScheduled }
