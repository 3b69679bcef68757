package dst

import (
	"runtime"
	"time"
)

// A steady tick takes no memory. That is looked at for a second in which nothing goes wrong, nobody comes and nobody speaks; of it are left
// out the ticks in which a recording hands a chunk over, whose memory is its receiver's.
const (
	allocCheckFrom    = Length - 2*time.Second
	allocCheckTo      = Length - time.Second
	chatEnds          = allocCheckFrom - 500*time.Millisecond // from when on nobody speaks: a line takes memory until all have it
	runtimeAllocTicks = 3                                     // ticks in which Go itself may take some, which counts for the process
)

// allocs is how much memory the server's ticks take when nothing happens. What is counted is the process's: two runs at a time would
// count each other's.
type allocCheck struct {
	before, after     runtime.MemStats
	ticks, allocating int
	most              uint64
}

// aroundTick plays the server's tick, and counts what it allocates.
func (w *world) aroundTick(tick func() error) error {
	q := &w.allocs
	if now := w.Now(); w.checks.none || now < allocCheckFrom || now >= allocCheckTo || !w.allSettled(now) {
		return tick()
	}
	runtime.ReadMemStats(&q.before)
	err := tick()
	runtime.ReadMemStats(&q.after)
	if w.recordings.handed {
		return err
	}
	q.ticks++
	if n := q.after.Mallocs - q.before.Mallocs; n > 0 {
		q.allocating++
		q.most = max(q.most, n)
	}
	return err
}

// allSettled says whether everybody has been there for a while.
func (w *world) allSettled(now time.Duration) bool {
	for i := range w.honest {
		if s := &w.honest[i]; w.Clients[i] == nil || now < s.settleAt {
			return false
		}
	}
	return true
}

// check is for the end of a run.
func (q *allocCheck) check(w *world) {
	if q.allocating > runtimeAllocTicks {
		w.fail(Bounds, "%d of %d ticks in which nothing happened allocated, one of them %d objects", q.allocating, q.ticks, q.most)
	}
}
