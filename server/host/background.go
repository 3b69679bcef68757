package host

import "github.com/tickrate/tickrate/sim/replay"

// background runs what a lobby leaves for after its ticks, one function at a time, on a goroutine of
// its own: it encodes and compresses recordings and killcams.
type background struct {
	queue chan func()
	done  chan struct{}
}

// newBackground starts the goroutine. The queue has room for all that a lobby may have waiting, and
// for the end of one recording before the next.
func newBackground() *background {
	b := &background{queue: make(chan func(), 2*(replay.RawChunks+1)), done: make(chan struct{})}
	go func() {
		defer close(b.done)
		for run := range b.queue {
			run()
		}
	}()
	return b
}

// run is server.Config.Background: the tick calls it.
func (b *background) run(f func()) { b.queue <- f }

// close waits until everything has run. A nil background has nothing to run.
func (b *background) close() {
	if b == nil {
		return
	}
	close(b.queue)
	<-b.done
}
