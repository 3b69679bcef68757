package netcode

import (
	"math/rand/v2"
	"time"

	"github.com/tickrate/tickrate/internal/ratelimit"
)

const (
	prefixBuckets = 4096            // for networks; two that share one share its budget
	seenBits      = 1 << 17         // for hosts that have answered a challenge
	seenFor       = 2 * time.Minute // at least
	deferAfter    = time.Second     // of refusals
)

// budget decides how many tokens are opened for strangers.
//
// Above half of the burst it refuses at random, ever more, so that a flood takes no client's chance away for good. Once it
// has refused for a second, three quarters of the burst are kept for hosts that have answered a challenge in the last
// minutes; strangers share what is paid off.
type budget struct {
	all      ratelimit.Bucket
	burst    int // of all
	networks [prefixBuckets]ratelimit.Bucket
	seed     [2]uint64
	over     bool
	since    time.Duration // over
	seen     [2][seenBits / 64]uint64
	turned   time.Duration // when the older half of seen was cleared
	asked    time.Duration // when admit was last called
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
func (b *budget) admit(now time.Duration, from name, dice *rand.ChaCha8) Drop {
	b.asked = now
	if !b.networks[from.network().hash(b.seed)%prefixBuckets].Allow(now, 1) {
		return DropReqPrefix
	}
	spent, half := b.spent(now), int64(b.burst)*millionths/2
	if b.over && spent < half/4 {
		b.over = false
	}
	if b.over && now-b.since > deferAfter && spent >= half/2 && !b.known(now, from) {
		return DropReqDeferred
	}
	excess := spent - half
	if excess > 0 && int64(dice.Uint64()%uint64(half)) < excess || !b.all.Allow(now, 1) {
		if !b.over {
			b.over, b.since = true, now
		}
		return DropReqBudget
	}
	return DropNone
}

const millionths = 1_000_000

// spent is how many millionths of a token are not paid for yet.
func (b *budget) spent(now time.Duration) int64 {
	return int64(b.all.Spent(now)) * int64(b.all.Rate()) / (int64(time.Second) / millionths)
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

// pressure is how much of the burst was spent when admit was last called: 0 to 1.
func (b *budget) pressure() float64 {
	return min(1, float64(b.spent(b.asked))/(float64(b.burst)*millionths))
}
