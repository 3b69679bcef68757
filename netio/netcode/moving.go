package netcode

// MovingSession is a session on the way from one Server to another of its group: its keys,
// sequences and replay window exist once.
type MovingSession struct {
	slot     slot
	path     path
	userData [UserDataSize]byte
}

// Release takes a session out of the server, which says nothing to the client. It reports false if
// the slot has none.
func (s *Server) Release(client int) (m MovingSession, ok bool) {
	if client < 0 || client >= len(s.slots) || !s.slots[client].used {
		return m, false
	}
	m = MovingSession{s.slots[client], s.paths[client], s.userData[client]}
	s.freeSlot(client)
	return m, true
}

// Adopt puts a session that another server has released into a free slot, and returns that. It
// panics if there is none: compare Clients and Connected before.
func (s *Server) Adopt(m *MovingSession) (client int) {
	last := len(s.freeSlots) - 1
	client = int(s.freeSlots[last])
	s.freeSlots = s.freeSlots[:last]
	s.slots[client], s.paths[client], s.userData[client] = m.slot, m.path, m.userData
	s.slotAt.put(addressKey(m.slot.address), client)
	s.slotOfClient.put(numberKey(m.slot.clientID), client)
	if m.path.id != 0 {
		s.slotOfPath.put(numberKey(m.path.id), client)
	}
	s.updateAt[client] = 0 // the next Update finds out
	*m = MovingSession{}
	return client
}
