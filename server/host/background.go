package host

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/tickrate/tickrate/sim/replay"
)

// background runs what a lobby leaves for after its ticks, one function at a time, on a goroutine
// of its own: it encodes and compresses recordings and killcams. A panic in there ends the lobby.
type background struct {
	waiting []func() // of the tick in hand, and those that found the queue full
	queue   chan func()
	done    chan struct{}
	fault   atomic.Pointer[fault] // the first panic
}

// fault is a panic, and the stack where it happened.
type fault struct {
	value any
	stack []byte
}

// newBackground returns a background that does not run yet. Its queue has room for all that a lobby
// may have waiting, and for the end of one recording before the next.
func newBackground() *background {
	const most = 2 * (replay.RawChunks + 1)
	return &background{waiting: make([]func(), 0, most), queue: make(chan func(), most),
		done: make(chan struct{})}
}

// start starts the goroutine; close ends it.
func (b *background) start() {
	go func() {
		defer close(b.done)
		for run := range b.queue {
			b.run(run)
		}
	}()
}

// run keeps the panic of a function for the lobby.
func (b *background) run(f func()) {
	defer func() {
		if v := recover(); v != nil {
			b.fault.CompareAndSwap(nil, &fault{v, debug.Stack()})
		}
	}()
	f()
}

// add is server.Config.Background: the tick calls it.
func (b *background) add(run func()) { b.waiting = append(b.waiting, run) }

// flush begins what the tick has added. It is called behind the tick, since waking a goroutine
// takes a system call, and what it runs takes cache and memory from the tick that is still sending.
// What finds the queue full waits for the next flush: map changes that follow one another closely
// leave more than the queue holds.
func (b *background) flush() {
	for i, run := range b.waiting {
		select {
		case b.queue <- run:
		default:
			b.waiting = append(b.waiting[:0], b.waiting[i:]...)
			return
		}
	}
	b.waiting = b.waiting[:0]
}

// close waits until everything has run.
func (b *background) close() {
	for _, run := range b.waiting {
		b.queue <- run
	}
	close(b.queue)
	<-b.done
}
