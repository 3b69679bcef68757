package netcode

import "time"

const (
	forgedPerSecond = 100 // and more, for
	forgedSeconds   = 5   // make an attack
)

// forgeries are the datagrams from a session's address that did not open.
type forgeries struct {
	all      uint64
	attacked bool
	begun    time.Duration // the second that is being counted
	count    int           // in it
	seconds  int           // in a row before it with too many
}

// note counts one and says whether with it an attack has become certain.
func (f *forgeries) note(now time.Duration) bool {
	f.all++
	if elapsed := now - f.begun; elapsed >= time.Second {
		if f.count <= forgedPerSecond || elapsed >= 2*time.Second {
			f.seconds = 0
		} else {
			f.seconds++
		}
		f.begun, f.count = now, 0
	}
	f.count++
	if f.attacked || f.seconds < forgedSeconds {
		return false
	}
	f.attacked = true
	return true
}

// forged counts a datagram from a session's address that did not open. The session is left alone, as anybody could have
// sent it in its name; only whoever looks is told.
func (s *Server) forged(now time.Duration, c *slot) {
	if c.forged.note(now) {
		s.counters.AuthFloods++
	}
}
