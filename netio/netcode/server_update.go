package netcode

import (
	"time"

	"github.com/tickrate/tickrate/internal/planted"
)

// Update sends what is due and ends what is over. Its events are valid until the next call.
func (s *Server) Update(now time.Duration, unix int64, out *Outbox) []Event {
	s.clock.tell(now, unix, &s.counters)
	s.events = s.events[:0]
	for i, at := range s.wake {
		if at <= now {
			s.look(now, i, out)
		}
	}
	for i := range s.stale.next(now, len(s.waiting)) {
		if p := &s.waiting[i]; p.used && now >= p.until {
			s.drop(i)
		}
	}
	s.tokens.expired(now, uint64(max(0, unix)))
	return s.events
}

// look decides about a session whose time has come, or may have come.
func (s *Server) look(now time.Duration, i int, out *Outbox) {
	c := &s.slots[i]
	if c.timeout > 0 && now-c.heard >= c.timeout && !planted.On(planted.NeverTimesOut) {
		s.end(i)
		s.events = append(s.events, Event{Kind: EventTimeout, Client: i})
		return
	}
	if c.kicked {
		s.Disconnect(now, i, out)
		s.events = append(s.events, Event{Kind: EventDisconnect, Client: i})
		return
	}
	if c.next >= sequenceLimit-farewells-1 {
		s.Disconnect(now, i, out)
		s.events = append(s.events, Event{Kind: EventExhausted, Client: i})
		return
	}
	if now-c.sent >= sendEvery {
		s.keepAlive(now, i, out)
	}
	s.wake[i] = c.sent + sendEvery
	if c.timeout > 0 {
		s.wake[i] = min(s.wake[i], c.heard+c.timeout)
	}
}

// Close disconnects everybody and denies who comes later.
func (s *Server) Close(now time.Duration, out *Outbox) {
	s.StopAccepting()
	for i := range s.slots {
		if s.slots[i].used {
			s.Disconnect(now, i, out)
		}
	}
}
