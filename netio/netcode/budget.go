package netcode

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

const (
	networkBuckets = 4096            // for networks; two that share one share its budget
	provenBits     = 1 << 17         // for hosts that have answered a challenge
	provenFor      = 2 * time.Minute // at least
	deferAfter     = time.Second     // of refusals
)

// budget decides how many tokens are opened for strangers.
//
// Above half of the burst it refuses at random, ever more, so that a flood takes no client's chance away for good. Once it
// has refused for a second, three quarters of the burst are kept for hosts that have answered a challenge in the last
// minutes; strangers share what is paid off.
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

// newBudget returns a budget of perSecond opened tokens, half of that at once, and of perNetwork for each network.
func newBudget(perSecond, perNetwork int, seed [2]uint64) *budget {
	b := &budget{all: ratelimit.NewBurst(perSecond, perSecond/2), burst: perSecond / 2, seed: seed}
	for i := range b.networks {
		b.networks[i] = ratelimit.NewBurst(perNetwork, perNetwork)
	}
	return b
}

// admit says whether a token from an address may be opened: DropNone, DropReqPrefix, DropReqDeferred or DropReqBudget.
func (b *budget) admit(now time.Duration, from tableKey, dice *rand.ChaCha8) Drop {
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
	if excess > 0 && int64(dice.Uint64()%uint64(half)) < excess || !b.all.Allow(now, 1) {
		if !b.overloaded {
			b.overloaded, b.overloadedSince = true, now
		}
		return DropReqBudget
	}
	return DropNone
}

const millionths = 1_000_000

// used is how many millionths of a token are not paid for yet.
func (b *budget) spent(now time.Duration) int64 {
	return int64(b.all.Spent(now)) * int64(b.all.Rate()) / (int64(time.Second) / millionths)
}

// markProven notes a host that has answered a challenge.
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

// rotate forgets the older half.
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

// pressure is how much of the burst was spent when admit was last called: 0 to 1.
func (b *budget) pressure() float64 {
	return min(1, float64(b.spent(b.lastAdmit))/(float64(b.burst)*millionths))
}
