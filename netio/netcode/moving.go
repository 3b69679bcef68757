package netcode

import "time"

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

// SendMoving is Send for a session that another member has released and this one has not adopted. It
// returns the sealed datagram.
func (s *Server) SendMoving(
	now time.Duration, m *MovingSession, payload []byte, out *Outbox,
) ([]byte, error) {
	switch c := &m.slot; {
	case len(payload) < 1 || len(payload) > MaxPayload:
		return nil, ErrPayload
	case c.sequence >= sequenceLimit-disconnectRepeats-1: // it may take two
		return nil, ErrExhausted
	default:
		if !c.confirmed {
			s.keepAliveOf(now, c, 0, out)
		}
		out.commit(s.seal(now, c, KindPayload, payload, out.bytes), c.address)
	}
	_, sealed := out.At(out.Len() - 1)
	return sealed, nil
}

// Discard ends a session that member from has released, and sends its client ten disconnects.
func (s *Server) Discard(now time.Duration, m *MovingSession, from int, out *Outbox) {
	s.disconnects(now, &m.slot, out)
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
