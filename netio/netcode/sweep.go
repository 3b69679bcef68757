package netcode

import (
	"iter"
	"time"
)

// sweep visits the entries of a long list once a second, a share of them in each call.
type sweep struct {
	at   int
	last time.Duration
}

// next yields the indexes of n entries that are due now.
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
