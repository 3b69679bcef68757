package impair

import (
	"fmt"
	"time"
)

// Profile says how bad a link is. The zero value is a perfect one.
type Profile struct {
	Loss      float64 // share of datagrams that vanish, 0 to 1
	Duplicate float64 // share of the others that arrive twice
	Reorder   float64 // share of all arrivals that are held back for ReorderBy, so that later ones pass

	Delay     time.Duration // one way, of every datagram
	Jitter    time.Duration // up to this much more, uniformly; it alone never changes the order, as in a queue
	ReorderBy time.Duration // 0 means DefaultReorderBy
}

// DefaultReorderBy is longer than the gap between two datagrams at 60 or 50 Hz, so a held one is really overtaken.
const DefaultReorderBy = 25 * time.Millisecond

// Check says what of a profile is out of range, if anything.
func (p Profile) Check() error {
	for _, share := range []struct {
		name string
		v    float64
	}{{"loss", p.Loss}, {"duplicate", p.Duplicate}, {"reorder", p.Reorder}} {
		if !(share.v >= 0 && share.v <= 1) { // also catches NaN
			return fmt.Errorf("impair: %s is %v, want a share from 0 to 1", share.name, share.v)
		}
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"delay", p.Delay}, {"jitter", p.Jitter}, {"reorder-by", p.ReorderBy}} {
		if d.v < 0 || d.v > time.Minute {
			return fmt.Errorf("impair: %s is %v, want 0 to 1m", d.name, d.v)
		}
	}
	return nil
}
