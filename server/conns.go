package server

import "slices"

// connTable has the connections of a lobby. A slot of the match is also that of the player's
// connection.
type connTable struct {
	conns         []conn  // by slot
	live          []int32 // slots with a session, ascending, so that runs repeat
	reconnectable []int32 // slots whose session timed out and whose player stays, longest ago first
	leaving       int     // players that leave with the end of this tick
}

func newConnTable(slots int) connTable {
	return connTable{
		conns: make([]conn, slots), live: make([]int32, 0, slots),
		reconnectable: make([]int32, 0, slots),
	}
}

// prefetch asks for the memory of the connections of a small lobby, which other lobbies of the loop
// have driven out of the caches since its last tick. That of a large one would not stay.
func (t *connTable) prefetch() {
	if len(t.live) > maxTogether {
		return
	}
	for _, slot := range t.live {
		t.conns[slot].prefetch()
	}
	for _, slot := range t.live {
		t.conns[slot].prefetchParts()
	}
}

// attach makes a slot live.
func (t *connTable) attach(slot int32) {
	i := len(t.live)
	t.live = append(t.live, slot)
	for ; i > 0 && t.live[i-1] > slot; i-- {
		t.live[i] = t.live[i-1]
	}
	t.live[i] = slot
}

// detach is the reverse of attach.
func (t *connTable) detach(slot int32) {
	for i, s := range t.live {
		if s == slot {
			t.live = append(t.live[:i], t.live[i+1:]...)
			return
		}
	}
}

// takeReconnectable takes the i-th connection out of those that may reconnect.
func (t *connTable) takeReconnectable(i int) *conn {
	c := &t.conns[t.reconnectable[i]]
	t.reconnectable = append(t.reconnectable[:i], t.reconnectable[i+1:]...)
	return c
}

// findReconnectable returns the index in reconnectable of a user's connection, -1 if there is none.
func (t *connTable) findReconnectable(user uint64, r role) int {
	return slices.IndexFunc(t.reconnectable, func(slot int32) bool {
		c := &t.conns[slot]
		return c.roster.user == user && c.roster.role == r
	})
}

// keeps reports whether the lobby keeps a player of a user for a reconnect.
func (t *connTable) keeps(user uint64) bool {
	return slices.ContainsFunc(t.reconnectable, func(slot int32) bool {
		return t.conns[slot].roster.user == user
	})
}

// spectators counts the spectators, those that may reconnect included.
func (t *connTable) spectators() (n int) {
	for _, slots := range [2][]int32{t.live, t.reconnectable} {
		for _, slot := range slots {
			if t.conns[slot].roster.role == roleSpectator {
				n++
			}
		}
	}
	return n
}
