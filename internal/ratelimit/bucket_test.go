package ratelimit

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickrate/tickrate/internal/alloctest"
)

// level is the slow twin: a token bucket with its level as an exact fraction.
type level struct {
	rate, depth, tokens *big.Rat
	at                  time.Duration
}

func newLevel(perSecond, burst int) *level {
	depth := big.NewRat(int64(burst), 1)
	return &level{rate: big.NewRat(int64(perSecond), int64(time.Second)), depth: depth,
		tokens: new(big.Rat).Set(depth)}
}

func (l *level) allow(now time.Duration, n int) bool {
	gained := new(big.Rat).Mul(l.rate, big.NewRat(int64(now-l.at), 1))
	l.at = now
	if l.tokens.Add(l.tokens, gained); l.tokens.Cmp(l.depth) > 0 {
		l.tokens.Set(l.depth)
	}
	want := big.NewRat(int64(n), 1)
	if l.tokens.Cmp(want) < 0 {
		return false
	}
	l.tokens.Sub(l.tokens, want)
	return true
}

// With rates that divide a second a bucket decides as the twin does; Wait ends at the instant of
// the first success.
func TestAllowMatchesTwin(t *testing.T) {
	rates := []int{1, 2, 5, 64, 250, 1000, 8000, 100_000}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rate, burst := rates[rng.IntN(len(rates))], 1+rng.IntN(50)
		b, twin := NewBurst(rate, burst), newLevel(rate, burst)
		mean := int64(time.Second) / int64(rate)
		now := time.Duration(0)
		for i := range 2000 {
			now += time.Duration(rng.Int64N(4 * mean))
			n := 1 + rng.IntN(3)
			wait := b.Wait(now, n)
			ok, want := b.Allow(now, n), twin.allow(now, n)
			if ok != want || ok != (wait == 0) {
				t.Fatalf("seed %d, call %d: %d of %d a second allowed %v after %v, twin says %v", seed, i,
					n, rate, ok, wait, want)
			}
			if !ok && n <= burst {
				early, late := b, b
				if early.Allow(now+wait-1, n) || !late.Allow(now+wait, n) {
					t.Fatalf("seed %d, call %d: %v is not when %d of %d a second are there", seed, i, wait,
						n, rate)
				}
			}
			if spent := b.Spent(now); spent < 0 || spent > b.depth {
				t.Fatalf("seed %d, call %d: %v spent of %v", seed, i, spent, b.depth)
			}
		}
	}
}

// In every window of time Ready and Take pass what the type promises, and at least 98 % of the
// rate to a caller that always has something to send. The twin sums all windows.
func TestRow26BucketHolds(t *testing.T) {
	const depth = 100 * time.Millisecond
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		rate, largest := 2000+rng.IntN(100_000), 1+rng.IntN(3000)
		every := time.Duration(1+rng.IntN(20)) * time.Millisecond
		b := New(rate, depth)
		type send struct {
			at time.Duration
			n  int
		}
		var all []send
		sum := 0
		const span = 60 * time.Second
		for now := time.Duration(0); now < span; now += every {
			for b.Ready(now) {
				n := 1 + rng.IntN(largest)
				b.Take(now, n)
				all, sum = append(all, send{now, n}), sum+n
			}
		}
		for i := range all {
			bytes := 0
			for _, s := range all[i:min(i+300, len(all))] {
				bytes += s.n
				most := float64(rate)*((s.at-all[i].at)+depth).Seconds() + float64(largest)
				if float64(bytes) > most+1 {
					t.Fatalf("seed %d: %d bytes in %v at %d a second", seed, bytes, s.at-all[i].at, rate)
				}
			}
		}
		if got := float64(sum) / span.Seconds() / float64(rate); got < .98 || got > 1.02 {
			t.Errorf("seed %d: %.3f of %d bytes a second", seed, got, rate)
		}
	}
}

func TestIdleBucketSavesItsDepth(t *testing.T) {
	idle := New(1000, 100*time.Millisecond)
	sent := 0
	for ; idle.Ready(time.Hour); sent++ {
		idle.Take(time.Hour, 1)
	}
	if sent != 101 {
		t.Errorf("an hour of idling saved up %d tokens at 1000 a second", sent)
	}
}

func TestZeroBucketLimitsNothing(t *testing.T) {
	for _, b := range []Bucket{{}, New(0, time.Second), NewBurst(0, 5)} {
		b.Take(0, 1<<40)
		if !b.Ready(0) || !b.Allow(0, 1<<40) || b.Wait(0, 1<<40) != 0 || b.Spent(0) != 0 ||
			b.Room(0, time.Second) != 0 {
			t.Errorf("%+v: a bucket without a rate limits", b)
		}
	}
}

func TestBucketAllocatesNothing(t *testing.T) {
	b, now := NewBurst(1000, 10), time.Duration(0)
	if n := alloctest.In(100, func() {
		now += time.Millisecond
		b.Allow(now, 1)
		b.Take(now, 1)
		b.Room(now, time.Second)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
