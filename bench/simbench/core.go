package simbench

import (
	"runtime"
	"time"

	"github.com/tickrate/tickrate/internal/clock"
)

// core is a thread that ticks run on, kept to a processor as a live server is. While it is paced,
// ticks begin at their instants by the wall clock: between them caches and the processor cool down
// as they do live. The clients of a match run elsewhere, on the caller's thread.
type core struct {
	ticks chan func() error
	done  chan error
	pacer *clock.Pacer

	gaps []time.Duration // before each tick, again and again; none: as fast as can be
	next int             // index into gaps
	due  time.Duration
}

// newCore starts the thread. The caller stops it.
func newCore(cpus []int) *core {
	c := &core{ticks: make(chan func() error), done: make(chan error)}
	go func() {
		runtime.LockOSThread() // never unlocked: a thread that is pinned ends with its goroutine
		if len(cpus) > 0 {
			_ = clock.SetThreadAffinity(cpus)
		}
		c.pacer = clock.New()
		for tick := range c.ticks {
			if len(c.gaps) > 0 {
				gap := c.gaps[c.next%len(c.gaps)]
				c.next++
				// Catches up on a few ticks only.
				c.due = max(c.due+gap, c.pacer.Now()-4*gap)
				c.pacer.Until(c.due)
			}
			c.done <- tick()
		}
	}()
	return c
}

// do runs a tick on the thread.
func (c *core) do(tick func() error) error {
	c.ticks <- tick
	return <-c.done
}

// pace begins ticks at their instants from now on: a gap lies before each, and they come again and
// again. Without gaps ticks follow one another at once.
func (c *core) pace(gaps ...time.Duration) {
	c.gaps, c.next = gaps, 0
	if c.pacer != nil {
		c.due = c.pacer.Now()
	}
}

// stop ends the thread.
func (c *core) stop() { close(c.ticks) }
