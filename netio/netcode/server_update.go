package netcode

import (
	"time"
)

// Update sends what is due and ends sessions and handshakes whose time is up. Its events are
// valid until the next call.
func (s *Server) Update(now time.Duration, unix int64, out *Outbox) []Event {
	s.clock.observe(now, unix, &s.counters)
	s.events = s.events[:0]
	for i, at := range s.updateAt {
		if at <= now {
			s.updateSlot(now, i, out)
		}
	}
	for i := range s.handshakeSweep.next(now, len(s.handshakes)) {
		if p := &s.handshakes[i]; p.used && now >= p.until {
			s.dropHandshake(i)
		}
	}
	s.tokens.expired(now, uint64(max(0, unix)))
	return s.events
}

// updateSlot ends a session that timed out, flooded or used up its sequences, and sends
// keep-alives that are due.
func (s *Server) updateSlot(now time.Duration, i int, out *Outbox) {
	c := &s.slots[i]
	if c.timeout > 0 && now-c.received >= c.timeout {
		s.freeSlot(i)
		s.events = append(s.events, Event{Kind: EventTimeout, Client: i})
		return
	}
	if c.flood.kicked {
		s.Disconnect(now, i, out)
		s.events = append(s.events, Event{Kind: EventDisconnect, Client: i})
		return
	}
	if c.sequence >= sequenceLimit-disconnectRepeats-1 {
		s.Disconnect(now, i, out)
		s.events = append(s.events, Event{Kind: EventExhausted, Client: i})
		return
	}
	if now-c.sent >= sendEvery {
		s.keepAlive(now, i, out)
	}
	s.updateAt[i] = c.sent + sendEvery
	if c.timeout > 0 {
		s.updateAt[i] = min(s.updateAt[i], c.received+c.timeout)
	}
}

// Close disconnects all clients and denies new ones.
func (s *Server) Close(now time.Duration, out *Outbox) {
	s.StopAccepting()
	for i := range s.slots {
		if s.slots[i].used {
			s.Disconnect(now, i, out)
		}
	}
}
