package netcode

import "time"

const (
	authFloodRate    = 100 // and more, for
	authFloodSeconds = 5   // make an attack
)

// authFailures are the datagrams from a session's address that did not open.
type authFailures struct {
	total   uint64
	flood   bool
	second  time.Duration // the second that is being counted
	count   int           // in it
	seconds int           // in a row before it with too many
}

// add counts one and says whether with it an attack has become certain.
func (f *authFailures) add(now time.Duration) bool {
	f.total++
	if elapsed := now - f.second; elapsed >= time.Second {
		if f.count <= authFloodRate || elapsed >= 2*time.Second {
			f.seconds = 0
		} else {
			f.seconds++
		}
		f.second, f.count = now, 0
	}
	f.count++
	if f.flood || f.seconds < authFloodSeconds {
		return false
	}
	f.flood = true
	return true
}

// authFailures counts a datagram from a session's address that did not open. The session is left alone, as anybody could have
// sent it in its name; only whoever looks is told.
func (s *Server) countAuthFailure(now time.Duration, c *slot) {
	if c.authFailures.add(now) {
		s.counters.AuthFloods++
	}
}
