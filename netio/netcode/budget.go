package netcode

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

const (
	networkBuckets = 4096            // for networks; two networks may share one
	provenBits     = 1 << 17         // for hosts that answered a challenge
	provenFor      = 2 * time.Minute // at least
	deferAfter     = time.Second     // of refusals, hosts that are not proven are deferred
)

// budget limits how many tokens are opened for addresses without a session.
//
// Above half of the burst it refuses requests at random, with growing probability, so that a
// flood does not shut out every client. After a second of refusals it keeps three quarters of the
// burst for hosts that answered a challenge in the last minutes; other hosts share what the rate
// gives.
type budget struct {
	all             ratelimit.Bucket
	burst           int // of all
	networks        [networkBuckets]ratelimit.Bucket
	seed            [2]uint64
	overloaded      bool
	overloadedSince time.Duration // over
	proven          [2][provenBits / 64]uint64
	rotated         time.Duration // when the older half of seen was cleared
	lastAdmit       time.Duration // when admit was last called
}

// newBudget returns a budget of perSecond tokens, half of them at once, and of perNetwork for
// each network.
func newBudget(perSecond, perNetwork int, seed [2]uint64) *budget {
	b := &budget{all: ratelimit.NewBurst(perSecond, perSecond/2), burst: perSecond / 2, seed: seed}
	for i := range b.networks {
		b.networks[i] = ratelimit.NewBurst(perNetwork, perNetwork)
	}
	return b
}

// admit reports whether a token from an address may be opened: DropNone, DropReqPrefix,
// DropReqDeferred or DropReqBudget.
func (b *budget) admit(now time.Duration, from tableKey, rng *rand.ChaCha8) Drop {
	b.lastAdmit = now
	if !b.networks[from.network().hash(b.seed)%networkBuckets].Allow(now, 1) {
		return DropReqPrefix
	}
	spent, half := b.spent(now), int64(b.burst)*millionths/2
	if b.overloaded && spent < half/4 {
		b.overloaded = false
	}
	if b.overloaded && now-b.overloadedSince > deferAfter && spent >= half/2 && !b.isProven(now, from) {
		return DropReqDeferred
	}
	excess := spent - half
	if excess > 0 && int64(rng.Uint64()%uint64(half)) < excess || !b.all.Allow(now, 1) {
		if !b.overloaded {
			b.overloaded, b.overloadedSince = true, now
		}
		return DropReqBudget
	}
	return DropNone
}

const millionths = 1_000_000

// spent returns how many millionths of a token are not paid for.
func (b *budget) spent(now time.Duration) int64 {
	return int64(b.all.Spent(now)) * int64(b.all.Rate()) / (int64(time.Second) / millionths)
}

// markProven records a host that has answered a challenge.
func (b *budget) markProven(now time.Duration, from tableKey) {
	b.rotate(now)
	i := from.host().hash(b.seed) % provenBits
	b.proven[0][i/64] |= 1 << (i % 64)
}

func (b *budget) isProven(now time.Duration, from tableKey) bool {
	b.rotate(now)
	i := from.host().hash(b.seed) % provenBits
	return (b.proven[0][i/64]|b.proven[1][i/64])>>(i%64)&1 != 0
}

// rotate forgets the older half of the proven hosts.
func (b *budget) rotate(now time.Duration) {
	if now-b.rotated < provenFor {
		return
	}
	b.proven[1] = b.proven[0]
	clear(b.proven[0][:])
	if now-b.rotated >= 2*provenFor {
		clear(b.proven[1][:])
	}
	b.rotated = now
}

// pressure returns the share of the burst, 0 to 1, that was spent when admit was last called.
func (b *budget) pressure() float64 {
	return min(1, float64(b.spent(b.lastAdmit))/(float64(b.burst)*millionths))
}
