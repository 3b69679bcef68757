//go:build linux

package clock

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A thread that dozes does not delay a stop of the world, though the scheduler does not know that
// it sleeps.
func TestDozeLetsTheWorldStop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for try := 0; worldWaits(t); try++ {
		if try == 2 { // a machine that stalls for two seconds spoils one try
			t.Fatal("the collector waited until the thread woke")
		}
	}
}

// worldWaits reports whether the collector ended only after the nap of a thread.
func worldWaits(t *testing.T) bool {
	const nap = 2 * time.Second
	var up atomic.Bool
	slept := make(chan time.Duration)
	begun := make(chan struct{})
	go func() {
		p := New()
		at := unix.NsecToTimespec(p.at + int64(nap))
		close(begun)
		for p.Now() < nap {
			sleepUntil(&at)
		}
		up.Store(true)
		slept <- p.Now()
	}()
	<-begun
	for range 3 {
		runtime.GC() // stops the world twice
	}
	waited := up.Load()
	if d := <-slept; d < nap {
		t.Errorf("signals cut the sleep short: %v of %v", d, nap)
	}
	return waited
}

// Parking ends a sleep neither early nor late by its own rounding.
func TestSleepIsNeverEarly(t *testing.T) {
	p := New()
	defer runtime.UnlockOSThread()
	for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond,
		park, park + worthParking, 7 * time.Millisecond} {
		due := p.Now() + d
		if p.Sleep(due); p.Now() < due {
			t.Errorf("%v: woke %v early", d, due-p.Now())
		}
	}
}
