package clock

import (
	"sync"
	"testing"
	"time"
)

// The meter records every beat while it runs, missed ones too, and none after it was stopped.
func TestHiccup(t *testing.T) {
	var mu sync.Mutex
	beats, stopped := 0, false
	begin := time.Now()
	h := NewHiccup(nil, func(late time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if beats++; late < 0 || stopped {
			t.Errorf("late by %v, stopped %v", late, stopped)
		}
	})
	for began := false; !began; { // a busy machine may take long to start a thread
		time.Sleep(60 * time.Millisecond)
		mu.Lock()
		began = beats > 0
		mu.Unlock()
	}
	h.Stop()
	mu.Lock()
	ran := time.Since(begin)
	stopped = true
	most := int(ran/HiccupPeriod) + 1
	if beats > most {
		t.Errorf("%d beats in %v, want at most %d", beats, ran, most)
	}
	mu.Unlock()
	time.Sleep(3 * HiccupPeriod)
}
