package netio

import "sync/atomic"

// ring passes datagrams from the goroutine that receives them to the owner of the Conn. It counts
// datagrams and not batches, so that single datagrams do not fill it with nearly empty batches.
//
//	producer  run() -> slots to fill -> publish(n)
//	owner     take(b): exchanges the buffers of filled slots for those of b; copies no bytes
type ring struct {
	slots []slot
	mask  uint64

	_    [64]byte // head and tail on cache lines of their own
	head atomic.Uint64
	_    [56]byte
	tail atomic.Uint64
	_    [56]byte
}

// newRing makes a ring for at least that many datagrams, rounded up to a power of two from
// BatchSize.
func newRing(datagrams int) *ring {
	size := BatchSize
	for size < datagrams {
		size *= 2
	}
	r := &ring{slots: make([]slot, size), mask: uint64(size - 1)}
	allocBuffers(r.slots)
	return r
}

// run returns the next free slots that are contiguous, at most BatchSize; none when the ring is
// full.
func (r *ring) run() []slot {
	head := r.head.Load()
	free := uint64(len(r.slots)) - (head - r.tail.Load())
	at := head & r.mask
	n := min(free, uint64(len(r.slots))-at, BatchSize)
	return r.slots[at : at+n]
}

// publish passes the first n slots of the last run to the owner.
func (r *ring) publish(n int) { r.head.Store(r.head.Load() + uint64(n)) }

// take fills b with the datagrams that have arrived.
func (r *ring) take(b *Batch) int {
	b.alloc()
	b.n = 0
	tail, head := r.tail.Load(), r.head.Load()
	for tail != head && b.n < BatchSize {
		from, to := &r.slots[tail&r.mask], &b.slots[b.n]
		tail++
		to.addr, to.n = from.addr, from.n
		to.buf, from.buf = from.buf, to.buf
		b.n++
	}
	r.tail.Store(tail)
	return b.n
}
