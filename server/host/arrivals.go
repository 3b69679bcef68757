package host

import (
	"sync"
	"time"
)

// arrivals counts the players that joined in the last minute. Any goroutine may use it.
type arrivals struct {
	mu      sync.Mutex
	seconds [60]int
	newest  int64 // second that is counted
}

// add counts players that joined by now, a time since the start of the host.
func (a *arrivals) add(now time.Duration, players int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	a.seconds[a.newest%int64(len(a.seconds))] += players
}

// lastMinute returns how many players joined in the last minute.
func (a *arrivals) lastMinute(now time.Duration) (sum int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	for _, n := range a.seconds {
		sum += n
	}
	return sum
}

// turn forgets the seconds that are a minute old.
func (a *arrivals) turn(now time.Duration) {
	second, size := int64(now/time.Second), int64(len(a.seconds))
	for range min(max(0, second-a.newest), size) {
		a.newest++
		a.seconds[a.newest%size] = 0
	}
	a.newest = max(a.newest, second)
}
