package packet

import (
	"slices"
	"time"
)

// Jitter is the packet delay variation of RFC 5481: by how much the median, the 95th and the 99th
// percentile of the newest packets were slower than the fastest one. A buffer of P95 has 95 of
// 100 packets in time.
type Jitter struct {
	P50, P95, P99 time.Duration
}

// delayHistorySize is the number of packets in a Jitter: 4 s at 60 Hz, 13 s at 20 Hz. Clocks that
// differ by 100 ppm add a millisecond in that time.
const delayHistorySize = 256

// delayHistory keeps the newest delays in units of Stamp, relative to any zero, modulo 8.192 s.
type delayHistory struct {
	n    uint64 // delays added so far
	ring [delayHistorySize]uint16
}

func (s *delayHistory) add(delay uint16) {
	s.ring[s.n%delayHistorySize] = delay
	s.n++
}

// jitter sorts a copy. It compares delays by their distance from the newest one, so that a wrap
// does not matter.
func (s *delayHistory) jitter() Jitter {
	if s.n == 0 {
		return Jitter{}
	}
	var off [delayHistorySize]int16
	n := int(min(s.n, delayHistorySize))
	newest := s.ring[(s.n-1)%delayHistorySize]
	for i, d := range s.ring[:n] {
		off[i] = int16(d - newest)
	}
	slices.Sort(off[:n])
	over := func(percent int) time.Duration { // nearest rank
		return time.Duration(int(off[(percent*n+99)/100-1])-int(off[0])) * Stamp
	}
	return Jitter{P50: over(50), P95: over(95), P99: over(99)}
}
