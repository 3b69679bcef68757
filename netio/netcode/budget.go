package netcode

import (
	"math/rand/v2"
	"time"
)

const (
	prefixBuckets = 4096            // for networks; two that share one share its budget
	seenBits      = 1 << 17         // for hosts that have answered a challenge
	seenFor       = 2 * time.Minute // at least
	deferAfter    = time.Second     // of refusals
)

// bucket is how much of a budget is spent: the zero value owes nothing.
type bucket struct {
	debt int64 // millionths
	at   time.Duration
}

const millionths = 1_000_000

// settle pays the debt off at the given rate a second.
func (b *bucket) settle(now time.Duration, rate int) {
	if now-b.at >= time.Minute { // a burst is at most a minute's worth
		b.debt, b.at = 0, now
		return
	}
	micros := max(now-b.at, 0) / time.Microsecond
	b.debt = max(0, b.debt-int64(micros)*int64(rate))
	b.at += micros * time.Microsecond
}

// take spends one, if there is room.
func (b *bucket) take(burst int) bool {
	if b.debt+millionths > int64(burst)*millionths {
		return false
	}
	b.debt += millionths
	return true
}

// budget decides how many tokens are opened for strangers.
//
// Above half of the burst it refuses at random, ever more, so that a flood takes no client's chance away for good. Once it
// has refused for a second, three quarters of the burst are kept for hosts that have answered a challenge in the last
// minutes; strangers share what is paid off.
type budget struct {
	rate, burst             int
	prefixRate, prefixBurst int
	all                     bucket
	networks                [prefixBuckets]bucket
	seed                    [2]uint64
	over                    bool
	since                   time.Duration // over
	seen                    [2][seenBits / 64]uint64
	turned                  time.Duration // when the older half of seen was cleared
}

// admit says whether a token from an address may be opened: DropNone, DropReqPrefix, DropReqDeferred or DropReqBudget.
func (b *budget) admit(now time.Duration, from name, dice *rand.ChaCha8) Drop {
	network := &b.networks[from.network().hash(b.seed)%prefixBuckets]
	network.settle(now, b.prefixRate)
	if !network.take(b.prefixBurst) {
		return DropReqPrefix
	}
	b.all.settle(now, b.rate)
	half := int64(b.burst) * millionths / 2
	if b.over && b.all.debt < half/4 {
		b.over = false
	}
	if b.over && now-b.since > deferAfter && b.all.debt >= half/2 && !b.known(now, from) {
		return DropReqDeferred
	}
	excess := b.all.debt - half
	if excess > 0 && int64(dice.Uint64()%uint64(half)) < excess || !b.all.take(b.burst) {
		if !b.over {
			b.over, b.since = true, now
		}
		return DropReqBudget
	}
	return DropNone
}

// proven notes a host that has answered a challenge.
func (b *budget) proven(now time.Duration, from name) {
	b.turn(now)
	i := from.host().hash(b.seed) % seenBits
	b.seen[0][i/64] |= 1 << (i % 64)
}

func (b *budget) known(now time.Duration, from name) bool {
	b.turn(now)
	i := from.host().hash(b.seed) % seenBits
	return (b.seen[0][i/64]|b.seen[1][i/64])>>(i%64)&1 != 0
}

// turn forgets the older half.
func (b *budget) turn(now time.Duration) {
	if now-b.turned < seenFor {
		return
	}
	b.seen[1] = b.seen[0]
	clear(b.seen[0][:])
	if now-b.turned >= 2*seenFor {
		clear(b.seen[1][:])
	}
	b.turned = now
}

// pressure is how much of the burst is spent: 0 to 1.
func (b *budget) pressure() float64 { return float64(b.all.debt) / (float64(b.burst) * millionths) }
