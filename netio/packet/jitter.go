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

// delayRing keeps the newest delays of each kind, in units of Stamp, relative to any zero, modulo
// 8.192 s. Both kinds come with each packet, so they lie side by side.
type delayRing [delayHistorySize][delayKinds]uint16

// delayCounts is how many delays of each kind were added so far.
type delayCounts [delayKinds]uint32

const (
	oneWay     = iota // by two clocks, so only the variation means anything
	roundTrip         // by our own clock
	delayKinds        // number of kinds
)

func (p *Peer) addDelay(kind int, delay uint16) {
	p.delays[p.delayCounts[kind]%delayHistorySize][kind] = delay
	p.delayCounts[kind]++
}

// jitter sorts a copy. It compares delays by their distance from the newest one, so that a wrap
// does not matter.
func (p *Peer) jitter(kind int) Jitter {
	added := p.delayCounts[kind]
	if added == 0 {
		return Jitter{}
	}
	var off [delayHistorySize]int16
	n := int(min(added, delayHistorySize))
	newest := p.delays[(added-1)%delayHistorySize][kind]
	for i, d := range p.delays[:n] {
		off[i] = int16(d[kind] - newest)
	}
	slices.Sort(off[:n])
	over := func(percent int) time.Duration { // nearest rank
		return time.Duration(int(off[(percent*n+99)/100-1])-int(off[0])) * Stamp
	}
	return Jitter{P50: over(50), P95: over(95), P99: over(99)}
}
