package netio

import "sync/atomic"

// ring hands datagrams from the one goroutine that receives them to the one that owns the Conn. It is counted in
// datagrams and not in batches, so that a trickle of single datagrams cannot fill it with nearly empty batches.
//
//	producer  run() -> slots to fill -> publish(n)
//	owner     take(b): exchanges the buffers of filled slots for those of b; no byte is copied
type ring struct {
	slots []slot
	mask  uint64

	_    [64]byte // head and tail on cache lines of their own
	head atomic.Uint64
	_    [56]byte
	tail atomic.Uint64
	_    [56]byte
}

// newRing makes a ring for at least the given number of datagrams, rounded up to a power of two from BatchSize.
func newRing(datagrams int) *ring {
	size := BatchSize
	for size < datagrams {
		size *= 2
	}
	r := &ring{slots: make([]slot, size), mask: uint64(size - 1)}
	allocBuffers(r.slots)
	return r
}

// run returns the next free slots that lie side by side, at most BatchSize of them; none when the ring is full.
func (r *ring) run() []slot {
	head := r.head.Load()
	free := uint64(len(r.slots)) - (head - r.tail.Load())
	at := head & r.mask
	n := min(free, uint64(len(r.slots))-at, BatchSize)
	return r.slots[at : at+n]
}

// publish shows the first n slots of the last run to the owner.
func (r *ring) publish(n int) { r.head.Store(r.head.Load() + uint64(n)) }

// take fills b with what has arrived.
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
