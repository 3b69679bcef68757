package agones

import (
	"strconv"
	"testing"
	"time"
)

// recordOf is a record as an SDK server sends it.
func recordOf(version, rooms int, allocated string) *GameServer {
	return &GameServer{
		Meta: Meta{ResourceVersion: strconv.Itoa(version), Annotations: map[string]string{
			LastAllocated: allocated, MapKey: "town:64:1", PlayersKey: "12"}},
		Spec:   Spec{Health: Health{PeriodSeconds: 3}},
		Status: Status{State: StateAllocated, Counters: map[string]Counter{CounterRooms: {Count: Int64(rooms), Capacity: 8}}},
	}
}

// settled is a state whose counter is set.
func settled(taken int) *state {
	s := &state{settle: 3 * time.Second}
	s.observe(0, recordOf(1, 1, ""))
	s.done(0, s.next(0, Figures{Taken: taken, Most: 8}), true)
	s.observe(0, recordOf(2, taken, ""))
	return s
}

// Each allocation is answered once, however often and in whatever order records come.
func TestAllocationsAreAnsweredOnce(t *testing.T) {
	s, opened := settled(0), 0
	first, second := recordOf(3, 1, "2026-11-24T09:00:05Z"), recordOf(4, 2, "2026-11-24T09:00:05.25Z")
	for _, g := range []*GameServer{first, first, second, first, second, recordOf(2, 0, "")} {
		if a, asked, _ := s.observe(time.Second, g); asked {
			opened++
			if a != (Allocation{Map: "town:64:1", Players: 12}) {
				t.Errorf("%+v", a)
			}
		}
	}
	if n := s.missed(time.Hour); opened != 2 || n != 0 {
		t.Errorf("%d lobbies, %d missed: want 2 and 0", opened, n)
	}
	if c := s.next(time.Hour, Figures{Taken: 2, Most: 8}); c != nil {
		t.Errorf("the counter is right, and yet %+v", c)
	}
}

// Three allocations in one record open three lobbies: one at once, two when nothing is under way.
func TestAllocationsThatComeTogether(t *testing.T) {
	s := settled(1)
	if _, asked, _ := s.observe(time.Second, recordOf(3, 4, "2026-11-24T09:00:05Z")); !asked {
		t.Fatal("no lobby")
	}
	if n := s.missed(2 * time.Second); n != 0 {
		t.Errorf("%d lobbies before the figures have settled", n)
	}
	if n := s.missed(5 * time.Second); n != 2 {
		t.Errorf("%d lobbies, want 2", n)
	}
	if n := s.missed(time.Hour); n != 0 {
		t.Errorf("%d lobbies more", n)
	}
}

// The counter follows the lobbies by differences, so an allocation meanwhile is kept; a request that
// failed sets it anew, and a drain takes it to zero without a capacity below the count.
func TestTheCounterFollowsTheLobbies(t *testing.T) {
	s := settled(3)
	c := s.next(time.Second, Figures{Taken: 2, Most: 8})
	if c == nil || c.Diff == nil || *c.Diff != -1 || c.Count != nil || c.Capacity != nil {
		t.Fatalf("%+v", c)
	}
	s.done(time.Second, c, true)
	if _, asked, _ := s.observe(time.Second, recordOf(4, 3, "2026-11-24T09:00:05Z")); !asked {
		t.Fatal("no lobby")
	}
	if c := s.next(time.Second, Figures{Taken: 3, Most: 8}); c != nil {
		t.Errorf("%+v though three lobbies are counted", c)
	}
	c = s.next(time.Second, Figures{Taken: 1, Most: 8})
	s.done(time.Second, c, false)
	if c = s.next(time.Second, Figures{Taken: 1, Most: 8}); c.Count == nil || *c.Count != 1 || *c.Capacity != 8 {
		t.Errorf("after a failure %+v", c)
	}
	s.done(time.Second, c, true)
	gone := Figures{Taken: 1, Most: 8, Draining: true}
	for _, want := range []string{"count 0", "capacity 0"} {
		c = s.next(time.Second, gone)
		if got := c.Count != nil && *c.Count == 0; got != (want == "count 0") {
			t.Errorf("%s: %+v", want, c)
		}
		s.done(time.Second, c, true)
	}
	if c = s.next(time.Second, gone); c != nil {
		t.Errorf("%+v after the drain", c)
	}
	// A counter that somebody else has lowered is set again once nothing is under way.
	s = settled(3)
	s.observe(time.Second, recordOf(5, 1, ""))
	if c = s.next(2*time.Second, Figures{Taken: 3, Most: 8}); c != nil {
		t.Errorf("%+v at once", c)
	}
	if c = s.next(time.Minute, Figures{Taken: 3, Most: 8}); c == nil || c.Count == nil || *c.Count != 3 {
		t.Errorf("%+v after a minute", c)
	}
}

// The label of a fleet's overflow, the end of the game server and a time of deletion begin a drain.
func TestRecordsThatBeginADrain(t *testing.T) {
	for name, change := range map[string]func(*GameServer){
		"label":    func(g *GameServer) { g.Meta.Labels = map[string]string{DrainLabel: "true"} },
		"state":    func(g *GameServer) { g.Status.State = StateShutdown },
		"deletion": func(g *GameServer) { g.Meta.Deleted = 1764000000 },
		"":         func(*GameServer) {},
	} {
		s, g := settled(1), recordOf(3, 1, "")
		change(g)
		if s.observe(time.Second, g); s.drained != (name != "") {
			t.Errorf("%q: drained %v", name, s.drained)
		}
	}
}

// A lobby is taken from its allocation on, and ends when its players have left or never came.
func TestRooms(t *testing.T) {
	r := NewRooms()
	all := []Lobby{{ID: 0, Map: "arena-16", Mode: "deathmatch", Slots: 10}}
	if taken, _ := r.Step(0, all); taken != 0 {
		t.Errorf("%d taken at the start", taken)
	}
	if _, ok := r.Claim(0, Allocation{Map: "town"}, all); ok {
		t.Error("claimed for another map")
	}
	if _, ok := r.Claim(0, Allocation{Players: 11}, all); ok {
		t.Error("claimed for more players than it has slots")
	}
	if id, ok := r.Claim(0, Allocation{Map: "arena-16", Players: 10}, all); !ok || id != 0 {
		t.Fatal("not claimed")
	}
	all = append(all, Lobby{ID: 7})
	r.Opened(0, 7)
	all[0].Players = 3
	if taken, end := r.Step(time.Minute, all); taken != 2 || end != nil {
		t.Errorf("%d taken, %v ends", taken, end)
	}
	all[0].Players = 0
	if _, end := r.Step(time.Minute+emptyAfterPlay, all); end != nil {
		t.Errorf("%v ends", end)
	}
	if _, end := r.Step(time.Minute+emptyAfterPlay+1, all); len(end) != 1 || end[0] != 0 {
		t.Errorf("%v ends, want 0", end)
	}
	if taken, end := r.Step(neverPlayed+1, all[1:]); taken != 1 || len(end) != 1 || end[0] != 7 {
		t.Errorf("%d taken, %v ends, want 7", taken, end)
	}
}
