package clock

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Hiccup sleeps on a thread of its own for HiccupPeriod at a time and tells how much later than it should it woke: what the machine took from
// everybody on that processor, ours and strangers' work alike. It does nothing else, so whatever is late beyond it is late by itself.
type Hiccup struct {
	late func(time.Duration)
	stop atomic.Bool
	done chan struct{}
}

// HiccupPeriod is the time between two looks. A look costs some 20 microseconds of CPU time, and those of the process that is measured: it
// wakes a thread.
const HiccupPeriod = 5 * time.Millisecond

// NewHiccup starts a meter that calls late from its thread, after every beat, with how late it woke. A gap of many beats is told as the
// beats that were missed would have seen it: each as late as it would have been. Where processors can be chosen, on says which.
func NewHiccup(on []int, late func(time.Duration)) *Hiccup {
	h := &Hiccup{late: late, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		runtime.LockOSThread() // not undone: the thread ends with its processors
		if len(on) > 0 {
			_ = SetThreadAffinity(on) // then it tells of the others
		}
		h.run(New())
	}()
	return h
}

func (h *Hiccup) run(p *Pacer) {
	for due := p.Now() + HiccupPeriod; !h.stop.Load(); due += HiccupPeriod {
		p.Sleep(due)
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
