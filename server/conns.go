package server

// connTable has the connections of a lobby. A slot of the match is also that of the player's
// connection.
type connTable struct {
	conns         []conn  // by slot
	live          []int32 // slots with a session, ascending, so that runs repeat
	reconnectable []int32 // slots whose session timed out and whose player stays, longest ago first
	slotOf        []int32 // by client of netcode: slot, or -1
	leaving       int     // players that leave with the end of this tick
}

func newConnTable(slots int) connTable {
	t := connTable{
		conns: make([]conn, slots), live: make([]int32, 0, slots),
		reconnectable: make([]int32, 0, slots), slotOf: make([]int32, slots),
	}
	for i := range t.slotOf {
		t.slotOf[i] = -1
	}
	return t
}

// ofClient returns the connection of a client of netcode; nil while it has none.
func (t *connTable) ofClient(client int) *conn {
	if slot := t.slotOf[client]; slot >= 0 {
		return &t.conns[slot]
	}
	return nil
}

// attach connects a slot with a client of netcode.
func (t *connTable) attach(slot, client int32) {
	t.slotOf[client] = slot
	i := len(t.live)
	t.live = append(t.live, slot)
	for ; i > 0 && t.live[i-1] > slot; i-- {
		t.live[i] = t.live[i-1]
	}
	t.live[i] = slot
}

// detach is the reverse of attach.
func (t *connTable) detach(slot, client int32) {
	t.slotOf[client] = -1
	for i, s := range t.live {
		if s == slot {
			t.live = append(t.live[:i], t.live[i+1:]...)
			return
		}
	}
}

// takeReconnectable takes the connection of a user out of those that may reconnect; nil if it is
// not among them.
func (t *connTable) takeReconnectable(user uint64, r role) *conn {
	for i, slot := range t.reconnectable {
		if c := &t.conns[slot]; c.roster.user == user && c.roster.role == r {
			t.reconnectable = append(t.reconnectable[:i], t.reconnectable[i+1:]...)
			return c
		}
	}
	return nil
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
