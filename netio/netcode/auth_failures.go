package netcode

import "time"

// More than authFloodRate failures a second for authFloodSeconds in a row are an authentication
// flood.
const (
	authFloodRate    = 100 // and more, for
	authFloodSeconds = 5   // make an attack
)

// authFailures counts the datagrams from a session's address that fail authentication.
type authFailures struct {
	total   uint64
	flood   bool
	second  time.Duration // the second that is being counted
	count   int           // in it
	seconds int           // in a row before it with too many
}

// add counts a failure and reports whether it makes a flood certain.
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

// countAuthFailure counts a datagram from a session's address that fails authentication. It does
// not affect the session, because anybody can spoof its address; the counters show it.
func (s *Server) countAuthFailure(now time.Duration, c *slot) {
	if c.authFailures.add(now) {
		s.counters.AuthFloods++
	}
}
