package packet

// messageStore holds up to MaxReliable messages, each in the slot of its id modulo MaxReliable. Its
// memory grows with the messages that it holds at a time, to at most 32 KiB.
type messageStore struct {
	held  uint64                    // bit i: slot i has a message
	slots *[MaxReliable]messageSlot // nil before the first message
	buf   []byte
}

// messageSlot is where a message lies in the store's buffer.
type messageSlot struct{ at, size uint16 }

// firstRoom is the memory of a store with its first message, in bytes.
const firstRoom = 512

// get returns the message in a slot, valid until the next put.
func (s *messageStore) get(slot uint64) []byte {
	m := s.slots[slot]
	return s.buf[m.at:][:m.size]
}

// put copies a message into an empty slot.
func (s *messageStore) put(slot uint64, message []byte) {
	s.reserve()
	if s.held == 0 {
		s.buf = s.buf[:0]
	}
	if len(s.buf)+len(message) > cap(s.buf) {
		s.makeRoom(len(message))
	}
	s.slots[slot] = messageSlot{uint16(len(s.buf)), uint16(len(message))}
	s.buf = append(s.buf, message...)
	s.held |= 1 << slot
}

// empty returns a store without messages, in the same memory.
func (s *messageStore) empty() messageStore { return messageStore{slots: s.slots, buf: s.buf[:0]} }

// reserve makes the memory of the first message.
func (s *messageStore) reserve() {
	if s.slots == nil {
		s.slots, s.buf = new([MaxReliable]messageSlot), make([]byte, 0, firstRoom)
	}
}

// drop empties a slot.
func (s *messageStore) drop(slot uint64) { s.held &^= 1 << slot }

// makeRoom moves the messages together, into twice the memory if they take more than half of it.
func (s *messageStore) makeRoom(more int) {
	used := more
	for slot := range setBits(s.held) {
		used += int(s.slots[slot].size)
	}
	room := max(cap(s.buf), firstRoom)
	for 2*used > room && room < 2*MaxReliable*MaxMessageSize {
		room *= 2
	}
	var kept [MaxReliable * MaxMessageSize]byte
	n := 0
	for slot := range setBits(s.held) {
		was := s.get(slot)
		s.slots[slot].at = uint16(n)
		n += copy(kept[n:], was)
	}
	if room > cap(s.buf) {
		s.buf = make([]byte, 0, room)
	}
	s.buf = append(s.buf[:0], kept[:n]...)
}
