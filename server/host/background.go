package host

import (
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/tickrate/tickrate/sim/replay"
)

// background runs what lobbies leave for after their ticks, one function at a time, on a goroutine
// of its own: it encodes and compresses recordings and killcams. A panic in there ends the lobby.
type background struct {
	queue   chan job
	faulted atomic.Uint32 // jobs that have panicked
	late    func(*hosted) // takes the fault of a lobby that has ended
	done    chan struct{}
}

// backlog is what the lobbies of a worker leave for the background. It belongs to the worker.
type backlog struct {
	to      *background
	waiting []job // of the ticks in hand, and those that found the queue full
}

// job is a function of a lobby.
type job struct {
	run func()
	of  *hosted
}

// fault is a panic of a lobby's job, and the stack where it happened.
type fault struct {
	value any
	stack []byte
}

// newBackground returns a background that does not run yet. Its queue has room for all that the
// lobbies may have waiting, and for the end of one recording of each before the next. late is told
// of a panic in a job of a lobby that has ended; see hosted.fault.
func newBackground(lobbies int, late func(*hosted)) *background {
	most := 2 * (replay.RawChunks + 1) * max(1, lobbies)
	return &background{queue: make(chan job, most), late: late, done: make(chan struct{})}
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

// run keeps the first panic of a lobby's functions for its worker.
func (b *background) run(j job) {
	defer func() {
		if v := recover(); v != nil {
			j.of.fault.CompareAndSwap(nil, &fault{v, debug.Stack()})
			b.faulted.Add(1)
			if j.of.over() {
				b.late(j.of)
			}
		}
	}()
	j.run()
}

// close waits until everything has run.
func (b *background) close() {
	close(b.queue)
	<-b.done
}

// leave is server.Config.Background of a lobby: the tick calls it.
func (x *hosted) leave(run func()) {
	b := &x.worker.Load().backlog
	b.waiting = append(b.waiting, job{run, x})
}

// flush begins what the ticks have added. It is called after them, since waking a goroutine
// takes a system call, and what it runs takes cache and memory from the tick that is still sending.
// What finds the queue full waits for the next flush: map changes that follow one another closely
// leave more than the queue holds.
func (b *backlog) flush() {
	for i, j := range b.waiting {
		select {
		case b.to.queue <- j:
		default:
			n := copy(b.waiting, b.waiting[i:])
			clear(b.waiting[n:]) // they keep no lobby that has ended
			b.waiting = b.waiting[:n]
			return
		}
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
}

// take takes out what waits of a lobby that moves.
func (b *backlog) take(x *hosted) (jobs []job) {
	b.waiting = slices.DeleteFunc(b.waiting, func(j job) bool {
		if j.of == x {
			jobs = append(jobs, j)
		}
		return j.of == x
	})
	return jobs
}

// finish begins all that waits.
func (b *backlog) finish() {
	for _, j := range b.waiting {
		b.to.queue <- j
	}
	b.waiting = nil
}
