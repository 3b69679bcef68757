// Package ratelimit limits how much happens in a second. A Bucket takes the time and the tokens
// that a caller wants to spend, and says whether it may spend them now, or when. It reads no
// clock, allocates nothing and locks nothing: one goroutine owns a Bucket.
package ratelimit

import (
	"math"
	"time"
)

// longAgo is when a new bucket was last in debt.
const longAgo = time.Duration(math.MinInt64 / 2)

// Bucket is a token bucket in the form of the generic cell rate algorithm (GCRA): instead of a
// level it keeps the instant at which everything taken so far is paid for. It fills at a rate of
// tokens a second and saves up what the rate gives in its depth, a duration. A token is whatever
// the caller counts: bytes, datagrams, milliseconds.
//
// In any time t a bucket that is asked with Allow lets at most rate*(t+depth) tokens pass. Asked
// with Ready before Take it may go into debt, so that up to one Take more passes.
//
// The zero value limits nothing. Times count from any fixed instant.
type Bucket struct {
	rate  int64         // tokens a second; 0: no limit
	depth time.Duration // what an idle bucket saves up
	paid  time.Duration // when all that was taken is paid for
}

// New returns a full bucket that saves up the tokens of depth; a rate of 0 limits nothing.
func New(perSecond int, depth time.Duration) Bucket {
	return Bucket{rate: int64(perSecond), depth: depth, paid: longAgo}
}

// NewBurst returns a full bucket that saves up burst tokens; a rate of 0 limits nothing.
func NewBurst(perSecond, burst int) Bucket {
	b := New(perSecond, 0)
	if perSecond > 0 {
		b.depth = b.cost(burst)
	}
	return b
}

// Rate returns the limit in tokens a second, 0 for none.
func (b *Bucket) Rate() int { return int(b.rate) }

// SetRate changes the rate from now on. Depth and debt stay the same in time.
func (b *Bucket) SetRate(perSecond int) { b.rate = int64(perSecond) }

// Allow takes n tokens if the bucket has them. It reports false and takes none otherwise.
func (b *Bucket) Allow(now time.Duration, n int) bool {
	if b.rate == 0 {
		return true
	}
	paid := b.base(now) + b.cost(n)
	if paid > now {
		return false
	}
	b.paid = paid
	return true
}

// Wait returns how long it takes until Allow has n tokens, 0 if it has them now. It is longer than
// that for more tokens than the bucket holds, which Allow never gives.
func (b *Bucket) Wait(now time.Duration, n int) time.Duration {
	if b.rate == 0 {
		return 0
	}
	return max(0, b.base(now)+b.cost(n)-now)
}

// Ready reports whether the bucket is out of debt, so that Take may spend any number of tokens.
func (b *Bucket) Ready(now time.Duration) bool { return b.rate == 0 || b.paid <= now }

// Take takes n tokens, if need be by going into debt.
func (b *Bucket) Take(now time.Duration, n int) {
	if b.rate == 0 {
		return
	}
	b.paid = b.base(now) + b.cost(n)
}

// Spent returns how long the bucket needs to be full again, from 0 to its depth and what it is in
// debt.
func (b *Bucket) Spent(now time.Duration) time.Duration {
	if b.rate == 0 {
		return 0
	}
	return b.base(now) + b.depth - now
}

// Room returns how many tokens may be taken now so that they are paid for within a period. Of the
// saved tokens it offers at most a quarter of the period's, so that a caller that takes all of them
// in every period approaches the rate in even shares. It is negative while a debt lasts longer than
// the period, and 0 for a bucket that limits nothing.
func (b *Bucket) Room(now, period time.Duration) int {
	free := now + period - b.base(now)
	return int(int64(min(free, period+period/4)) * b.rate / int64(time.Second))
}

// base is the instant from which the next tokens are paid for.
func (b *Bucket) base(now time.Duration) time.Duration { return max(b.paid, now-b.depth) }

// cost is how long the rate needs to give n tokens, rounded up. It holds for n up to 9e9.
func (b *Bucket) cost(n int) time.Duration {
	return time.Duration((int64(n)*int64(time.Second) + b.rate - 1) / b.rate)
}
