package netcode

import (
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

// floodLimit limits the datagrams of a session and finds out when it floods: when it sends
// floodFactor times its rate for kickAfter.
type floodLimit struct {
	bucket ratelimit.Bucket
	count  int           // datagrams since
	since  time.Duration // start of the period that is counted
	kicked bool          // it floods, and the owner was told
}

// floodFactor times its rate is what a session sends when it floods.
const floodFactor = 10

// add counts a datagram. It reports kick when the session floods from now on, and returns
// DropRate for a datagram that is one too many.
func (f *floodLimit) add(now time.Duration, perSecond int) (kick bool, why Drop) {
	if f.kicked {
		return false, DropRate
	}
	if now-f.since >= kickAfter {
		f.since, f.count = now, 0
	}
	if f.count++; f.count > floodFactor*int(kickAfter/time.Second)*perSecond {
		f.kicked = true
		return true, DropNone
	}
	if !f.bucket.Allow(now, 1) {
		return false, DropRate
	}
	return false, DropNone
}
