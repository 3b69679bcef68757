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

	openingTime = 3 * time.Microsecond  // of a token, on a slow machine
	spareDepth  = 16 * time.Millisecond // of spare, so that one tick opens no more

	// Times that an address has asked in the last second. A client asks ten times. An address that
	// asks less often than seldom may be made up.
	seldom, often = 2, 20
	crowded       = 200 // the same of a host
	ranks         = 4
	hasty         = ranks - 1 // rank of an address that asks more than often

	calmAfter = 10 * time.Second // without pressure, no address is counted any more
)

// budget limits how many tokens are opened for addresses without a session.
//
// Above half of the burst it refuses requests at random, with growing probability, so that a
// flood does not shut out every client. After a second of refusals it keeps three quarters of the
// burst for hosts that answered a challenge in the last minutes; other hosts share what the rate
// gives.
//
// What that refuses is opened in the time that the owner has to spare, unless its address asks too
// often. There and within a network, addresses that ask as a client does come first: see rank.
type budget struct {
	all             ratelimit.Bucket
	burst           int // of all
	networks        [networkBuckets]ratelimit.Bucket
	spare           ratelimit.Bucket // beyond all; rate 0: none
	asked           *sketch          // by address and by host; nil before the first pressure
	counting        bool             // in asked: there was pressure within calmAfter
	pressed         time.Duration    // when there was
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
		b.networks[i] = ratelimit.New(perNetwork, time.Second)
	}
	return b
}

// setSpare lets tokens be opened in a share of a processor's time, beyond the budget.
func (b *budget) setSpare(share float64) {
	rate := int(min(max(share, 0), 1) * float64(time.Second/openingTime))
	if b.spare.Rate() == 0 {
		b.spare = ratelimit.New(rate, spareDepth)
	}
	b.spare.SetRate(rate)
}

// admit reports whether a token from an address may be opened: DropNone, DropReqPrefix,
// DropReqDeferred or DropReqBudget.
func (b *budget) admit(now time.Duration, from tableKey, rng *rand.ChaCha8) Drop {
	b.lastAdmit = now
	network := &b.networks[from.network().hash(b.seed)%networkBuckets]
	rank := b.rank(now, from, network)
	why := DropReqPrefix
	if spent(network, now, time.Second) <= share(rank) && network.Allow(now, 1) {
		why = b.admitFrom(now, from, rank, rng)
	}
	if why != DropNone && rank < hasty && b.spare.Rate() > 0 &&
		spent(&b.spare, now, spareDepth) <= share(rank) && b.spare.Allow(now, 1) {
		return DropNone
	}
	return why
}

// admitFrom is admit for a network that may ask.
func (b *budget) admitFrom(now time.Duration, from tableKey, rank int, rng *rand.ChaCha8) Drop {
	spent, half := b.spent(now), int64(b.burst)*millionths/2
	if b.overloaded && spent < half/4 {
		b.overloaded = false
	}
	if b.overloaded && now-b.overloadedSince > deferAfter && !b.isProven(now, from) {
		if limit := half / 2; spent >= limit && (rank > 0 || spent >= limit+limit/2) {
			return DropReqDeferred
		}
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

// rank is the place of an address in the order of service: 0 for one that has asked before, as
// often as a client does, 1 for a new one, one more if its host is crowded, and hasty for one that
// asks too often. A flood from made-up addresses is not of rank 0, since they hardly ever come
// back, and a flood from a few addresses is hasty. Until there is pressure every rank is 0, and from
// calmAfter on after it: counting clears half a megabyte twice a second.
func (b *budget) rank(now time.Duration, from tableKey, network *ratelimit.Bucket) int {
	if b.overloaded || spent(network, now, time.Second) >= share(hasty) {
		b.pressed, b.counting = now, true
		if b.asked == nil {
			b.asked = newSketch(now, b.seed)
		}
	}
	b.counting = b.counting && now-b.pressed < calmAfter
	if !b.counting {
		return 0
	}
	rank := 0
	address, host := b.asked.add(now, from), b.asked.add(now, from.host())
	if address > often {
		return hasty
	}
	if address < seldom {
		rank = 1
	}
	if host > crowded {
		rank++
	}
	return rank
}

// share is how much of a bucket addresses of a rank may spend, 0 to 1.
func share(rank int) float64 { return float64(ranks-rank) / ranks }

// spent is how much of a bucket's depth is spent, 0 to 1.
func spent(b *ratelimit.Bucket, now, depth time.Duration) float64 {
	return float64(b.Spent(now)) / float64(depth)
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
