package impair

import (
	"math/bits"
	"time"
)

// bottleneck is the slowest part of the path: a queue of bounded bytes that drains at a steady
// rate.
type bottleneck struct {
	busyUntil time.Duration // when the last datagram has left
	remainder uint64        // fraction of a nanosecond beyond busyUntil, in 1/rate
}

// enqueue adds n bytes and returns when the last of them leaves; not ok if the queue has no room.
// An idle bottleneck takes any datagram.
func (p *bottleneck) enqueue(now time.Duration, n, rate, queue int) (leaves time.Duration, ok bool) {
	if p.busyUntil <= now {
		p.busyUntil, p.remainder = now, 0
	} else if p.backlog(now, rate)+n > queue {
		return 0, false
	}
	nanos := uint64(n)*uint64(time.Second) + p.remainder
	p.busyUntil += time.Duration(nanos / uint64(rate))
	p.remainder = nanos % uint64(rate)
	return p.busyUntil, true
}

// backlog returns the bytes that have not left by now.
func (p *bottleneck) backlog(now time.Duration, rate int) int {
	if p.busyUntil <= now {
		return 0
	}
	hi, lo := bits.Mul64(uint64(p.busyUntil-now), uint64(rate))
	left, _ := bits.Div64(hi, lo, uint64(time.Second)) // Check bounds the quotient
	return int(left)
}
