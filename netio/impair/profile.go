package impair

import "time"

// Profile describes how bad a link is, one way. The zero value is a perfect link. Shares are from
// 0 to 1, times from 0 to a minute. ParseProfile reads it from text, with the names given in the
// comments.
type Profile struct {
	Loss      float64 // loss: share of datagrams lost, independently
	Duplicate float64 // duplicate: share of the others that arrive twice
	Reorder   float64 // reorder: share of arrivals delayed by ReorderBy, so that later ones pass

	Delay     time.Duration // delay: one way, of every datagram
	Jitter    time.Duration // jitter: uniform extra delay; keeps the order, like a queue
	ReorderBy time.Duration // reorder-by: 0 means DefaultReorderBy

	// Bursts, after Gilbert and Elliott. Between bursts the loss is Loss.
	Burst       float64       // burst: chance of every datagram to begin a burst
	BurstLength float64       // burst-length: mean datagrams in a burst, at least 1; 0 means 10
	BurstLoss   float64       // burst-loss: share lost within a burst; 0 means all
	BurstMax    time.Duration // burst-max: longest burst; 0 means no limit

	// Corruption. At most one of these applies to an arrival: their sum is at most 1.
	Corrupt      float64 // corrupt: share of arrivals with one bit flipped
	CorruptBytes float64 // corrupt-bytes: share of arrivals with 1 to 8 neighbouring bytes altered
	Truncate     float64 // truncate: share of arrivals cut to a random shorter length, also 0

	Rate  int // rate: bytes of payload per second, 1000 (8kbit) to 10^10; 0 means no limit
	Queue int // queue: bytes; 0: a quarter of a second, at least two datagrams

	// Nothing passes during the last Blackhole of every BlackholeEvery of the clock, in both
	// directions of a path.
	Blackhole      time.Duration // blackhole: 0 means never
	BlackholeEvery time.Duration // blackhole-every: up to an hour; 0 means 30 s

	Rebind time.Duration // rebind: period of address changes, 10 ms or more; 0: never
}

// Defaults of zero fields. DefaultReorderBy is longer than the gap between two datagrams at 50 or
// 60 Hz, so that a later datagram overtakes.
const (
	DefaultReorderBy      = 25 * time.Millisecond
	DefaultBurstLength    = 10
	DefaultBlackholeEvery = 30 * time.Second
)

// withDefaults fills in the defaults of zero fields.
func (p Profile) withDefaults() Profile {
	setZero(&p.ReorderBy, DefaultReorderBy)
	setZero(&p.BurstLength, DefaultBurstLength)
	setZero(&p.BurstLoss, 1)
	setZero(&p.BlackholeEvery, DefaultBlackholeEvery)
	setZero(&p.Queue, max(p.Rate/4, 2*MaxDatagram))
	return p
}

// setZero sets a field that is zero.
func setZero[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
