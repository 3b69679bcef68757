package crowd

import "time"

// schedule is when the updates of a client are due, and how many were late.
type schedule struct {
	due           time.Duration // of the next, since the start
	updates, late int
}

// next counts the update that is made now, and sets when the one after it is due. A client that is
// more than four periods behind leaves updates out, which count as late.
func (s *schedule) next(now, period time.Duration) {
	s.updates++
	if now-s.due > period/2 {
		s.late++
	}
	s.due += period
	if behind := now - s.due; behind > 4*period {
		left := behind / period
		s.due += left * period
		s.updates += int(left)
		s.late += int(left)
	}
}
