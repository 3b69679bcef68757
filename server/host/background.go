package host

import (
	"runtime/debug"
	"sync"

	"github.com/tickrate/tickrate/sim/replay"
)

// background runs what lobbies leave for after their ticks, one function at a time, on a goroutine
// of its own: it encodes and compresses recordings and killcams. A panic in there ends the lobby.
type background struct {
	waiting []job // of the tick in hand, and those that found the queue full
	queue   chan job
	done    chan struct{}

	mu     sync.Mutex // guards faults
	faults []fault    // of jobs, until the loop takes them
}

// job is a function of a lobby.
type job struct {
	run func()
	of  *hosted
}

// fault is a panic of a lobby's job, and the stack where it happened.
type fault struct {
	of    *hosted
	value any
	stack []byte
}

// newBackground returns a background that does not run yet. Its queue has room for all that the
// lobbies may have waiting, and for the end of one recording of each before the next.
func newBackground(lobbies int) *background {
	most := 2 * (replay.RawChunks + 1) * max(1, lobbies)
	return &background{waiting: make([]job, 0, most), queue: make(chan job, most),
		done: make(chan struct{})}
}

// start starts the goroutine; close ends it.
func (b *background) start() {
	go func() {
		defer close(b.done)
		for j := range b.queue {
			b.run(j)
		}
	}()
}

// run keeps the panic of a function for the lobby.
func (b *background) run(j job) {
	defer func() {
		if v := recover(); v != nil {
			b.mu.Lock()
			b.faults = append(b.faults, fault{j.of, v, debug.Stack()})
			b.mu.Unlock()
		}
	}()
	j.run()
}

// fault returns a panic that was not returned before; ok is false if there is none.
func (b *background) fault() (f fault, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) == 0 {
		return f, false
	}
	f, b.faults = b.faults[0], b.faults[1:]
	return f, true
}

// of returns server.Config.Background of a lobby: the tick calls it.
func (b *background) of(x *hosted) func(run func()) {
	return func(run func()) { b.waiting = append(b.waiting, job{run, x}) }
}

// flush begins what the tick has added. It is called after the tick, since waking a goroutine
// takes a system call, and what it runs takes cache and memory from the tick that is still sending.
// What finds the queue full waits for the next flush: map changes that follow one another closely
// leave more than the queue holds.
func (b *background) flush() {
	for i, j := range b.waiting {
		select {
		case b.queue <- j:
		default:
			b.waiting = append(b.waiting[:0], b.waiting[i:]...)
			return
		}
	}
	clear(b.waiting) // they keep no lobby that has ended
	b.waiting = b.waiting[:0]
}

// close waits until everything has run.
func (b *background) close() {
	for _, j := range b.waiting {
		b.queue <- j
	}
	close(b.queue)
	<-b.done
}
