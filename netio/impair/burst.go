package impair

import "time"

// burst is the state of a Gilbert-Elliott channel (Gilbert 1960, Elliott 1963): a good and a bad state, between which
// every datagram may change it. The length of a stay in the bad one is geometric.
type burst struct {
	dice  dice
	on    bool
	since time.Duration
}

// step moves the channel by one datagram and reports whether that one meets the bad state. A burst of BurstMax ends.
func (b *burst) step(now time.Duration, p *Profile, count *Stats) bool {
	switch {
	case p.Burst == 0:
		return false
	case !b.on:
		if b.on = b.dice.share() < p.Burst; b.on {
			b.since = now
			count.Bursts++
		}
	case p.BurstMax > 0 && now-b.since >= p.BurstMax || b.dice.share()*p.BurstLength < 1:
		b.on = false
	}
	return b.on
}
