package impair

import "time"

// dice is SplitMix64 (Steele, Lea, Flood 2014), written out so that a seed means the same for ever.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// share is uniform in [0, 1).
func (d *dice) share() float64 { return float64(d.next()>>11) / (1 << 53) }

// fate is what a link decides about datagrams, one after the other.
type fate struct {
	profile Profile
	dice    dice
	last    time.Duration // when the newest in-order datagram arrives; none behind it arrives earlier
	count   Stats
}

// decide returns the instants at which a datagram sent now arrives: none, one or two of due.
func (f *fate) decide(now time.Duration) (due [2]time.Duration, arrivals int) {
	f.count.Pushed++
	if f.dice.share() < f.profile.Loss {
		f.count.Lost++
		return due, 0
	}
	due[0] = f.arrival(now)
	if f.dice.share() >= f.profile.Duplicate {
		return due, 1
	}
	f.count.Duplicated++
	due[1] = f.arrival(now)
	return due, 2
}

func (f *fate) arrival(now time.Duration) time.Duration {
	at := now + f.profile.Delay + time.Duration(f.dice.share()*float64(f.profile.Jitter))
	if f.dice.share() < f.profile.Reorder {
		f.count.Reordered++
		return at + f.profile.ReorderBy
	}
	f.last = max(f.last, at)
	return f.last
}
