package impair

import (
	"math/bits"
	"time"
)

// pipe is the narrowest place on the way: a queue of bounded bytes that is drained at a steady rate.
type pipe struct {
	free time.Duration // when the last datagram taken in has left
	rest uint64        // what that is late by beyond whole nanoseconds, in 1/rate of one
}

// take queues n bytes and returns when the last of them leaves; not ok if the queue has no room. An idle pipe takes
// any datagram.
func (p *pipe) take(now time.Duration, n, rate, queue int) (leaves time.Duration, ok bool) {
	if p.free <= now {
		p.free, p.rest = now, 0
	} else if p.backlog(now, rate)+n > queue {
		return 0, false
	}
	nanos := uint64(n)*uint64(time.Second) + p.rest
	p.free += time.Duration(nanos / uint64(rate))
	p.rest = nanos % uint64(rate)
	return p.free, true
}

// backlog is the bytes that have not left by now.
func (p *pipe) backlog(now time.Duration, rate int) int {
	if p.free <= now {
		return 0
	}
	hi, lo := bits.Mul64(uint64(p.free-now), uint64(rate))
	left, _ := bits.Div64(hi, lo, uint64(time.Second)) // Check keeps the quotient below 2^64
	return int(left)
}
