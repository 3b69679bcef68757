package dst

import (
	"runtime"
	"time"
)

const (
	// A steady tick allocates nothing. The check covers one second without faults, joins and chat,
	// and leaves out ticks that hand a recording's chunk over: its memory belongs to the receiver.
	allocCheckFrom = Length - 2*time.Second
	allocCheckTo   = Length - time.Second

	// The last chat line. A line takes memory until every client has it.
	chatEnds = allocCheckFrom - 500*time.Millisecond

	// The number of ticks in which the Go runtime itself may allocate.
	runtimeAllocTicks = 3
)

// allocCheck counts the allocations of the server's ticks. The runtime counts them for the whole
// process, so runs in one process must not overlap.
type allocCheck struct {
	before, after     runtime.MemStats
	ticks, allocating int    // ticks checked; those that allocated
	most              uint64 // objects that one tick allocated
}

// aroundTick runs the server's tick and counts its allocations.
func (r *run) aroundTick(tick func() error) error {
	q := &r.allocs
	if now := r.Now(); r.skip.checks || now < allocCheckFrom || now >= allocCheckTo || !r.allSettled(now) {
		return tick()
	}
	runtime.ReadMemStats(&q.before)
	err := tick()
	runtime.ReadMemStats(&q.after)
	if r.recordings.chunkEnded {
		return err
	}
	q.ticks++
	if n := q.after.Mallocs - q.before.Mallocs; n > 0 {
		q.allocating++
		q.most = max(q.most, n)
	}
	return err
}

// allSettled reports whether every honest client has been connected for a while.
func (r *run) allSettled(now time.Duration) bool {
	for i := range r.honest {
		if s := &r.honest[i]; r.Clients[i] == nil || now < s.settleAt {
			return false
		}
	}
	return true
}

// check fails the run if more ticks allocated than the Go runtime accounts for. It is called once,
// at the end of a run.
func (q *allocCheck) check(r *run) {
	if q.allocating > runtimeAllocTicks {
		r.fail(Bounds, "%d of %d quiet ticks allocated, one of them %d objects",
			q.allocating, q.ticks, q.most)
	}
}
