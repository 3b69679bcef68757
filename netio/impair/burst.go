package impair

import "time"

// burst is the state of a Gilbert-Elliott channel (Gilbert 1960, Elliott 1963): good or bad.
// Every datagram may change the state. The length of a stay in the bad state is geometric.
type burst struct {
	rng   rng
	bad   bool
	since time.Duration
}

// step advances the channel by one datagram and reports whether the state is bad. A burst ends
// after BurstMax.
func (b *burst) step(now time.Duration, p *Profile, count *Stats) bool {
	switch {
	case p.Burst == 0:
		return false
	case !b.bad:
		if b.bad = b.rng.float64() < p.Burst; b.bad {
			b.since = now
			count.Bursts++
		}
	case p.BurstMax > 0 && now-b.since >= p.BurstMax || b.rng.float64()*p.BurstLength < 1:
		b.bad = false
	}
	return b.bad
}
