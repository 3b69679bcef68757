package host

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The sum is that of a list of all arrivals, over gaps of any length.
func TestArrivalsOfTheLastMinute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a arrivals
	var seconds []int64 // of each player
	now := time.Duration(0)
	for step := range 3000 {
		gap := time.Duration(rng.IntN(3000)) * time.Millisecond
		if rng.IntN(50) == 0 {
			gap = time.Duration(rng.IntN(200)) * time.Second
		}
		now += gap
		players := rng.IntN(4)
		a.add(now, players)
		for range players {
			seconds = append(seconds, int64(now/time.Second))
		}
		want := 0
		for _, s := range seconds {
			if int64(now/time.Second)-s < 60 {
				want++
			}
		}
		if got := a.lastMinute(now); got != want {
			t.Fatalf("step %d, %v: %d players, want %d", step, now, got, want)
		}
	}
	if got := a.lastMinute(now + time.Minute); got != 0 {
		t.Errorf("%d players a minute later", got)
	}
	a.add(now-time.Second, 1) // another worker's clock reading is a moment older
	if got := a.lastMinute(now + time.Minute); got != 1 {
		t.Errorf("%d players, want the late one", got)
	}
}
