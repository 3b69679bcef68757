package netcode

// MovingSession is a session on the way from one Server to another of its group: its keys,
// sequences and replay window exist once.
type MovingSession struct {
	slot     slot
	path     path
	userData [UserDataSize]byte
}

// Release takes a session out of the server, which says nothing to the client. The index of the group
// names this server until another member adopts the session, so that datagrams can wait. It reports
// false if the slot has none.
func (s *Server) Release(client int) (m MovingSession, ok bool) {
	if client < 0 || client >= len(s.slots) || !s.slots[client].used {
		return m, false
	}
	m = MovingSession{s.slots[client], s.paths[client], s.userData[client]}
	s.slotAt.forget(addressKey(m.slot.address))
	s.slotOfClient.forget(numberKey(m.slot.clientID))
	if m.path.id != 0 {
		s.slotOfPath.forget(numberKey(m.path.id))
	}
	s.clearSlot(client)
	return m, true
}

// Adopt puts a session that member from of the group has released into a free slot, and returns
// that. It panics if there is none: compare Clients and Connected before.
func (s *Server) Adopt(m *MovingSession, from int) (client int) {
	last := len(s.freeSlots) - 1
	client = int(s.freeSlots[last])
	s.freeSlots = s.freeSlots[:last]
	s.slots[client], s.paths[client], s.userData[client] = m.slot, m.path, m.userData
	s.adoptKey(&s.slotOfClient, numberKey(m.slot.clientID), client, from)
	s.adoptKey(&s.slotAt, addressKey(m.slot.address), client, from)
	if m.path.id != 0 {
		s.adoptKey(&s.slotOfPath, numberKey(m.path.id), client, from)
	}
	s.updateAt[client] = 0 // the next Update finds out
	*m = MovingSession{}
	return client
}

// Discard ends a session that member from has released, and says nothing to the client.
func (s *Server) Discard(m *MovingSession, from int) {
	if x := s.group.Index; x != nil {
		x.remove(IndexClient, numberKey(m.slot.clientID), from)
		x.remove(IndexAddress, addressKey(m.slot.address), from)
		x.remove(IndexPath, numberKey(m.path.id), from)
	}
	*m = MovingSession{}
}

// adoptKey makes a key lead to a slot, and the entry of the index this member's.
func (s *Server) adoptKey(t *table, key tableKey, client, from int) {
	if x := t.shared.index; x != nil {
		x.move(t.shared.kind, key, from, t.shared.member)
	}
	t.put(key, client)
}
