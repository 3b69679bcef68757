package clock

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Hiccup measures scheduling delay: a thread of its own sleeps for HiccupPeriod at a time and
// reports how late it woke. The delay is the time that any work on that processor, of this process
// or of others, kept it waiting; lateness beyond it has other causes.
type Hiccup struct {
	late  func(time.Duration)
	sleep func(*Pacer, time.Duration) // until an instant
	stop  atomic.Bool
	done  chan struct{}
}

// HiccupPeriod is the time between two samples. A sample costs some 20 microseconds of CPU time,
// mostly for waking the thread, and counts for the process that is measured.
const HiccupPeriod = 5 * time.Millisecond

// NewHiccup starts a meter that calls late from its thread, after every period, with how late it
// woke. A gap of several periods is reported once for each of them, each as late as it would have
// been. on selects processors, where that is possible.
func NewHiccup(on []int, late func(time.Duration)) *Hiccup {
	return newHiccup(on, late, (*Pacer).Sleep)
}

// NewHiccupOnSpare is NewHiccup for a process that has a processor of the Go scheduler to spare: the
// meter keeps it while its thread sleeps. A sample then costs no wake-up of the scheduler, which takes
// 150 microseconds in a process of few threads.
func NewHiccupOnSpare(on []int, late func(time.Duration)) *Hiccup {
	return newHiccup(on, late, (*Pacer).SleepInKernel)
}

func newHiccup(on []int, late func(time.Duration), sleep func(*Pacer, time.Duration)) *Hiccup {
	h := &Hiccup{late: late, sleep: sleep, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		runtime.LockOSThread() // not undone: the thread ends with its processors
		if len(on) > 0 {
			_ = SetThreadAffinity(on) // on failure it measures the other processors
		}
		h.run(New())
	}()
	return h
}

func (h *Hiccup) run(p *Pacer) {
	for due := p.Now() + HiccupPeriod; !h.stop.Load(); due += HiccupPeriod {
		h.sleep(p, due)
		for late := p.Now() - due; ; late -= HiccupPeriod {
			h.late(max(late, 0))
			if late < HiccupPeriod {
				break
			}
			due += HiccupPeriod
		}
	}
}

// Stop ends the meter; late is not called after it.
func (h *Hiccup) Stop() {
	h.stop.Store(true)
	<-h.done
}
