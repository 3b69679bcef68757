package dst

import (
	"runtime"
	"time"
)

// A steady tick takes no memory. That is looked at for a second in which nothing goes wrong, nobody comes and nobody speaks; of it are left
// out the ticks in which a recording hands a chunk over, whose memory is its receiver's.
const (
	quietFrom = Length - 2*time.Second
	quietTo   = Length - time.Second
	silence   = quietFrom - 500*time.Millisecond // from when on nobody speaks: a line takes memory until all have it
	noise     = 3                                // ticks in which Go itself may take some, which counts for the process
)

// quiet is how much memory the server's ticks take when nothing happens. What is counted is the process's: two runs at a time would
// count each other's.
type quiet struct {
	before, after runtime.MemStats
	ticks, loud   int
	most          uint64
}

// around plays the server's tick, and counts what it allocates.
func (w *world) around(tick func() error) error {
	q := &w.quiet
	if now := w.Now(); w.how.bare || now < quietFrom || now >= quietTo || !w.calm(now) {
		return tick()
	}
	runtime.ReadMemStats(&q.before)
	err := tick()
	runtime.ReadMemStats(&q.after)
	if w.films.handed {
		return err
	}
	q.ticks++
	if n := q.after.Mallocs - q.before.Mallocs; n > 0 {
		q.loud++
		q.most = max(q.most, n)
	}
	return err
}

// calm says whether everybody has been there for a while.
func (w *world) calm(now time.Duration) bool {
	for i := range w.souls {
		if s := &w.souls[i]; w.Clients[i] == nil || now < s.settleAt {
			return false
		}
	}
	return true
}

// check is for the end of a run.
func (q *quiet) check(w *world) {
	if q.loud > noise {
		w.fail(Bounds, "%d of %d ticks in which nothing happened allocated, one of them %d objects", q.loud, q.ticks, q.most)
	}
}
