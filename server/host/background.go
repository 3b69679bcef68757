package host

import "github.com/tickrate/tickrate/sim/replay"

// background runs what lobbies leave for after their ticks, one function at a time, on a goroutine
// of its own: it encodes and compresses recordings and killcams.
type background struct {
	waiting []func() // of the tick in hand
	queue   chan func()
	done    chan struct{}
}

// newBackground returns a background that does not run yet. Its queue has room for all that the
// lobbies may have waiting, and for the end of one recording of each before the next.
func newBackground(lobbies int) *background {
	most := 2 * (replay.RawChunks + 1) * max(1, lobbies)
	return &background{waiting: make([]func(), 0, most), queue: make(chan func(), most),
		done: make(chan struct{})}
}

// start starts the goroutine; close ends it.
func (b *background) start() {
	go func() {
		defer close(b.done)
		for run := range b.queue {
			run()
		}
	}()
}

// add is server.Config.Background: the tick calls it.
func (b *background) add(run func()) { b.waiting = append(b.waiting, run) }

// flush begins what the tick has added. It is called behind the tick, since waking a goroutine
// takes a system call, and what it runs takes cache and memory from the tick that is still sending.
func (b *background) flush() {
	for _, run := range b.waiting {
		b.queue <- run
	}
	b.waiting = b.waiting[:0]
}

// close waits until everything has run.
func (b *background) close() {
	b.flush()
	close(b.queue)
	<-b.done
}
