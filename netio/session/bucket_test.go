package session

import (
	"math/rand/v2"
	"testing"
	"time"
)

// In every window of time a bucket lets through what it promises, and not less than 98 % of the rate to one who always
// has something to send. The twin sums up all windows.
func TestRow26BucketHolds(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		rate, largest := 2000+rng.IntN(100_000), 1+rng.IntN(3000)
		every := time.Duration(1+rng.IntN(20)) * time.Millisecond
		b := NewBucket(0, rate)
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
				if most := float64(rate)*((s.at-all[i].at).Seconds()+.1) + float64(largest); float64(bytes) > most+1 {
					t.Fatalf("seed %d: %d bytes in %v at %d a second", seed, bytes, s.at-all[i].at, rate)
				}
			}
		}
		if got := float64(sum) / span.Seconds() / float64(rate); got < .98 || got > 1.02 {
			t.Errorf("seed %d: %.3f of %d bytes a second", seed, got, rate)
		}
	}
	var any Bucket
	any.Take(0, 1<<40)
	if !any.Ready(0) {
		t.Error("a bucket without a rate limits")
	}
	idle := NewBucket(0, 1000)
	sent := 0
	for ; idle.Ready(time.Hour); sent++ {
		idle.Take(time.Hour, 1)
	}
	if sent != 101 {
		t.Errorf("an hour of idling saved up %d bytes at 1000 a second", sent)
	}
}
