package netcode

import (
	"iter"
	"time"
)

// sweep goes over a long list bit by bit: once a second, in steps as long as the time between them.
type sweep struct {
	at   int
	last time.Duration
}

// sequence gives the indexes of n entries that are due now.
func (s *sweep) next(now time.Duration, n int) iter.Seq[int] {
	step := min(max(now-s.last, 0), time.Second)
	count := min(n, int(int64(n)*int64(step)/int64(time.Second))+1)
	s.last = now
	from := s.at
	s.at = (from + count) % max(n, 1)
	return func(yield func(int) bool) {
		for i := range count {
			if !yield((from + i) % n) {
				return
			}
		}
	}
}
